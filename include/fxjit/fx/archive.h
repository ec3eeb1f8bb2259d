// save and load: a graph module with its module tree and its weights in one
// file. Nothing is lost on the way: the loaded module prints, generates code,
// runs and compiles as the saved one, in-place calls, wrapped functions, shared
// weights, types, defaults, source lines and meta included.
//
// The file is a .safetensors file that other programs can read the weights
// from. Its weights are mapped, not copied, unless a graph writes in place. Its
// description of the modules (JSON, with graphs in the text form of
// fxjit/fx/text.h) is the tensor "__graph_module__". A native forward is not
// part of it.
#pragma once

#include <string>

#include "fxjit/fx/graph_module.h"

namespace fxjit::fx {

// The version that `save` writes; `load` reads this one and all before. Since 2
// text may hold escapes of characters beyond ASCII (\xe9, \u200b), which
// readers of version 1 take for bytes or refuse.
inline constexpr int kArchiveVersion = 2;

// Writes `module` to `path`, whole or not at all. UserError naming the module's
// path for a class that is neither of fxjit::nn nor given to
// nn::register_module_type, for a layer that computes with another tensor than
// it has registered, for a graph with a CodeGen of its own, and for arguments,
// attributes and meta entries without a text. Not beside edits of the module.
void save(const GraphModule& module, const std::string& path);

struct LoadOptions {
  // Compares the checksum, which reads the whole file. Without it a damaged
  // weight goes unseen; the rest is checked all the same.
  bool verify = true;
};

// Functions wrapped by the user and modules of the user's types must have been
// registered before. UserError naming the file and what is wrong with it:
// missing, truncated, damaged, another format, a newer version, fields that are
// unknown, missing or of the wrong type, unknown functions and types, sizes
// that differ from the layer's; RuntimeError with Graph::lint's text for a
// graph that refers to what is not there. Never half a module.
nn::Ref<GraphModule> load(const std::string& path,
                          const LoadOptions& options = {});

}  // namespace fxjit::fx
