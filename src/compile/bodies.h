// Branches and bodies of control flow that no program can hold, since their
// sizes come from data. The loop runs between two parts of the graph around
// it, and each of its bodies is compiled as a module of its own.
#pragma once

#include <string>
#include <vector>

#include "fxjit/compile.h"
#include "fxjit/fx/graph_module.h"
#include "fxjit/report.h"
#include "src/passes/pipeline.h"

namespace fxjit {

struct CompiledBody {
  std::string name;  // The attribute that the call names.
  nn::Ref<fx::GraphModule> module;
};

// Compiles the graph modules that `call` is given. `owner` has the call's graph
// and these modules to itself.
std::vector<CompiledBody> compile_bodies(const fx::GraphModule& owner,
                                         const fx::Node& call,
                                         const CompileOptions& options,
                                         const passes::PassHooks& hooks);

// The steps of the programs that each body runs, for one tuple of sizes: its
// last one.
std::vector<StepReport> body_steps(const std::vector<CompiledBody>& bodies);

// Whether no program of the bodies leaves a node to the interpreter, as far as
// they were called.
bool are_compiled(const std::vector<CompiledBody>& bodies);

}  // namespace fxjit
