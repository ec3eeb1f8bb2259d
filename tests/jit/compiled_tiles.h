// A contraction step compiled by itself: its kernels and the loops that call
// them.
#pragma once

#include <memory>
#include <vector>

#include "jit/emit/kernel_function.h"
#include "jit/emit/skeletons.h"
#include "jit/engine/compiler.h"
#include "jit/engine/ir_module.h"
#include "src/program/steps/steps.h"
#include "src/program/tiles/run.h"
#include "src/support/memory/aligned_block.h"
#include "tests/jit/build_ir.h"
#include "tests/jit/emulated.h"
#include "tests/support/analysed.h"

namespace fxjit::jit::testing {

class CompiledTiles {
 public:
  CompiledTiles(const program::TileStep& step, CpuLevel level)
      : run_(program::analysed(step, level), level),
        plan_(program::analysed(step, level).plan(level)) {
    EngineOptions options;
    options.cpu_level = level;
    const Compiler compiler(options);
    std::vector<program::TileFn> kernels;
    for (const program::TileForm& form : run_.forms()) {
      IrModule ir = make_ir_module("kernel");
      VectorBuilder b(*make_function<program::TileFn>(*ir.module, "kernel"),
                      level);
      emit(b, form);
      codes_.push_back(build(compiler, std::move(ir)));
      kernels.push_back(runnable(
          level,
          codes_.back()->function<void(const program::TileCall*)>("kernel")));
    }
    run_.set_code(kernels);
  }

  int64_t tasks() const { return plan_.tasks; }
  size_t kernels() const { return run_.forms().size(); }
  void operator()(void* const* operands, int64_t begin, int64_t end) const {
    int32_t status = 0;
    support::AlignedBlock scratch(plan_.scratch_bytes + 1);
    const program::StepCall call{
        operands, static_cast<std::byte*>(scratch.data()), &status, &run_};
    program::run_tile_step(&call, begin, end);
  }
  void operator()(void* const* operands) const {
    (*this)(operands, 0, tasks());
  }

 private:
  program::TileRun run_;
  program::StepPlan plan_;
  std::vector<std::shared_ptr<CompiledCode>> codes_;
};

}  // namespace fxjit::jit::testing
