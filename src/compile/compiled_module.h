// The native forward of one GraphModule: finds the program for the inputs of a
// call, or has it made. Shared by all calling threads.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "fxjit/compile.h"
#include "src/compile/engine.h"
#include "src/compile/shape_table.h"
#include "src/compile/weight_store.h"
#include "src/passes/pipeline.h"

namespace fxjit {

class CompiledModule : public fx::NativeForward,
                       public std::enable_shared_from_this<CompiledModule> {
 public:
  // `module` is a copy of the user's, kept alive for compiling later.
  CompiledModule(nn::Ref<fx::GraphModule> module, CompileOptions options);

  bool run(std::span<const Value> inputs, Value* result) override;

  // The entry for these inputs, compiled now if there is none.
  std::shared_ptr<const CompiledShape> get(std::span<const Value> inputs);
  std::string report() const;
  Profile profile(std::span<const Value> inputs, int calls);

 private:
  std::shared_ptr<const CompiledShape> make(std::span<const Value> inputs);
  CompiledShape::Parts build(std::span<const Value> inputs);
  passes::PipelineOptions pipeline_options() const;
  void compile_behind(std::span<const Value> inputs);

  const nn::Ref<fx::GraphModule> module_;
  const CompileOptions options_;
  const int threads_;
  Engine& engine_;
  WeightStore weights_;
  support::BlockPool blocks_;
  ShapeTable shapes_;
  std::mutex compile_mutex_;  // One compilation of this module at a time.
  std::set<std::string> reported_;  // Why calls stay with the interpreter.
  std::mutex pending_mutex_;
  std::set<size_t> pending_;  // Hashes of inputs queued for the background.
};

// The CompiledModule installed in `module`; null when there is none.
std::shared_ptr<CompiledModule> compiled_module(const fx::GraphModule& module);

}  // namespace fxjit
