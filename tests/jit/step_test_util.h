// Compiles a row or column step at every CPU level of the host, runs it on
// operands in guarded memory and compares all that it wrote with the oracle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "fxjit/cpu_level.h"
#include "jit/engine/compiler.h"
#include "src/program/steps/step_code.h"
#include "src/program/steps/steps.h"
#include "tests/jit/step_oracle.h"

namespace fxjit::jit::testing {

struct CheckOptions {
  // Allowed error of floats: `units` roundings of the coarsest type involved,
  // relative to the greater of the result and `scale`.
  double units = 16;
  double scale = 1;
  // Element number `i` of input `slot`; null: numbers that suit the dtype.
  std::function<Number(size_t slot, int64_t i)> fill = nullptr;
  int32_t status = program::kOk;
  std::vector<CpuLevel> levels = {};  // None: all of the host.
};

// Numbers in [-3, 3) for floats, small integers otherwise; always the same.
Number sample(DType dtype, size_t slot, int64_t i);

// A step compiled at one level.
class StepKernel {
 public:
  StepKernel(program::StepBody step, CpuLevel level);

  // Runs tasks [begin, end); returns the status.
  int32_t run(const std::vector<void*>& operands, int64_t begin,
              int64_t end) const;
  int64_t tasks() const { return plan_.tasks; }

 private:
  std::vector<int64_t> arguments_;
  std::shared_ptr<CompiledCode> code_;
  program::KernelFn function_;
  program::StepPlan plan_;
};

// Fails the current test where generated code and oracle differ, where memory
// outside the outputs changed, or where the cut into tasks made a difference.
void check_step(const program::RowStep& step, const CheckOptions& options = {});
void check_step(const program::ColumnStep& step,
                const CheckOptions& options = {});

// Accesses over f32 unless told otherwise.
program::Access row_access(Dims outer, int64_t inner, DType dtype = DType::f32);
program::Access column_access(Dims outer, Dims reduce, int64_t inner,
                              DType dtype = DType::f32);

}  // namespace fxjit::jit::testing
