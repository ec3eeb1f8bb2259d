// A contraction step compiled by itself: its kernels and the loops that call
// them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jit/emit/kernel_function.h"
#include "jit/emit/tiles/tile.h"
#include "jit/engine/compiler.h"
#include "jit/engine/compiler_llvm.h"
#include "src/program/steps/step_plan.h"
#include "src/program/tiles/run.h"

namespace fxjit::jit::testing {

class CompiledTiles {
 public:
  CompiledTiles(const program::TileStep& step, CpuLevel level)
      : run_(step, level), tasks_(program::step_plan(step, level).tasks) {
    EngineOptions options;
    options.cpu_level = level;
    std::vector<IrModule> modules;
    const auto name = [](size_t i) { return "kernel_" + std::to_string(i); };
    const std::vector<program::TileForm>& forms = run_.forms();
    for (size_t i = 0; i < forms.size(); ++i) {
      modules.push_back(make_ir_module(name(i)));
      VectorBuilder b(
          *make_function<program::TileFn>(module_of(modules.back()), name(i)),
          level);
      emit(b, forms[i]);
    }
    code_ = Compiler(options).build(std::move(modules), SymbolTable());
    std::vector<program::TileFn> kernels;
    for (size_t i = 0; i < forms.size(); ++i)
      kernels.push_back(
          code_->function<void(const program::TileCall*)>(name(i)));
    run_.set_code(kernels);
  }

  int64_t tasks() const { return tasks_; }
  size_t kernels() const { return run_.forms().size(); }
  void operator()(void* const* operands, int64_t begin, int64_t end) const {
    int32_t status = 0;
    const program::StepCall call{operands, nullptr, &status, &run_};
    program::run_tile_step(&call, begin, end);
  }
  void operator()(void* const* operands) const { (*this)(operands, 0, tasks_); }

 private:
  program::TileRun run_;
  int64_t tasks_;
  std::shared_ptr<CompiledCode> code_;
};

}  // namespace fxjit::jit::testing
