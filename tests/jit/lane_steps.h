// Steps over rows of which neighbours lie side by side.
#pragma once

#include <gtest/gtest.h>

#include "src/program/rows/code.h"
#include "tests/jit/jit_test_util.h"
#include "tests/jit/step_bodies.h"
#include "tests/jit/step_test_util.h"

namespace fxjit::jit::testing {

using program::Access;
using program::RowStep;

// [batch, inner, rows] in memory.
inline Access lanes_access(int64_t inner, int64_t rows,
                           DType dtype = DType::f32) {
  return row_access({inner * rows, 1}, rows, dtype);
}

inline RowStep lanes_step(int64_t batch, int64_t inner, int64_t rows) {
  RowStep step;
  step.outer = {batch, rows};
  step.inner = inner;
  step.inputs = {lanes_access(inner, rows)};
  step.outputs = {lanes_access(inner, rows)};
  return step;
}

inline void expect_works_in_place(const RowStep& step) {
  for (CpuLevel level : host_levels()) {
    const StepKernel kernel(step, level);
    std::vector<float> in(size_t(numel(step.outer) * step.inner)),
        apart(in.size());
    for (size_t i = 0; i < in.size(); ++i)
      in[i] = static_cast<float>(sample(DType::f32, 0, int64_t(i)).real);
    kernel.run({in.data(), apart.data()}, 0, kernel.tasks());
    kernel.run({in.data(), in.data()}, 0, kernel.tasks());
    EXPECT_EQ(in, apart) << step.outer.str() << " " << cpu_level_name(level);
  }
}

}  // namespace fxjit::jit::testing
