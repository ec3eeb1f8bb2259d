// cpp_code: the C++ counterpart of GraphModule::code. Source text that compiles
// against fxjit alone and computes what the graph computes; tracing it gives
// the graph again.
//
//   fx::CppCode code = fx::cpp_code(*gm, {.name = "Net"});
//   write(code.src, "net.h");                     // struct generated::Net
//   save_safetensors("net.safetensors", code.weights);
//   ...
//   auto net = generated::Net::create(load_safetensors("net.safetensors"));
//   Value y = net(x);
//
// Layers are made by nn::make_module, so a type of the user's must be
// registered (nn::register_module_type) where the code is made and where it
// runs; so must functions given to fx::wrap. Weights shared by two layers come
// back as two parameters over the same memory.
#pragma once

#include <string>
#include <string_view>

#include "fxjit/fx/graph_module.h"
#include "fxjit/fx/weights.h"

namespace fxjit::fx {

struct CppOptions {
  std::string name;  // The struct's; by default the module's type.
  std::string name_space = "generated";  // Without "::" on either end.
};

struct CppCode {
  std::string src;  // The text of a header.
  // The tensors that the code takes, by qualified name. Not copied.
  nn::StateDict weights;
};

// UserError naming node or module path for what has no C++ text: tensors and
// opaque objects in arguments, a graph with a CodeGen of the user's, an
// attribute that is a module, modules of unknown types. Of graphs traced with
// containers (PyTreeCodeGen), forward takes and gives the containers.
CppCode cpp_code(const GraphModule& module, const CppOptions& options = {});

// One function `Value <name>(nn::Module& self, Value x, ...)` over a module
// that has what the graph refers to.
std::string cpp_code(const Graph& graph, std::string_view name = "forward");

}  // namespace fxjit::fx
