// Graphs that PyTorch made of its ops (torch.export, torch.compile), node by
// node. Who reads files has fxjit/pt2.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fxjit/fx/node.h"
#include "fxjit/fx/target.h"

namespace fxjit::pt2 {

// What a call of such a graph means here: `name` is
// "torch.ops.aten.add.Tensor", or a function of Python as torch.fx prints it
// ("_operator.getitem"). Nothing when the table of ops lacks it. Thread-safe.
std::optional<fx::Target> exported_function(std::string_view name);

// What stands before such a name in that of a function (fx::define_function) by
// which a process serves files' calls that the table lacks: Python has PyTorch
// run them where it is there.
inline constexpr std::string_view kHosted = "hosted.";

// Keeps a node's Python traceback in its metadata, as torch.fx does, and the
// innermost line outside torch's own code as its source, which errors name.
// Nothing happens for an empty text.
void set_stack_trace(fx::NodePtr node, const std::string& trace);

}  // namespace fxjit::pt2
