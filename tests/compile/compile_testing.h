// What the tests of this folder share: compiling without a disk cache, looking
// at the steps of a compiled program, random tensors, collecting log messages.
#pragma once

#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "fxjit/compile.h"
#include "fxjit/fx/graph_module.h"
#include "fxjit/log.h"
#include "fxjit/value.h"
#include "tests/support/host_levels.h"

namespace fxjit::testing {

using support::host_levels;

// One thread unless told, no disk cache.
CompileOptions options_for(CpuLevel level, int threads = 1);

// Of this machine's best level.
CompileOptions quick();

// Uniform in [-2, 2) for floats, in [-8, 8) for integers (below 8 for u8).
Tensor random_tensor(const Dims& sizes, DType dtype = DType::f32,
                     uint32_t seed = 1);

struct StepView {
  std::string label;
  std::vector<std::string> nodes;
  bool native = true;
};

// The steps of the program for these inputs, compiled if need be; empty when
// they stay with the interpreter.
std::vector<StepView> steps_for(const fx::GraphModule& module,
                                std::span<const Value> inputs);

// Empty when equal: structure, dtypes and sizes exactly, floats within
// `relative` * |expected| + `absolute` (in double), NaN equals NaN.
std::string value_difference(const Value& got, const Value& expected,
                             double relative, double absolute);

// softmax(gelu(x W^T)) of inputs [..., 6], and such inputs.
nn::Ref<fx::GraphModule> model();
ValueList batch(int64_t rows, uint32_t seed = 1);
// The compiled forward gives what the interpreter gives.
void expect_right(fx::GraphModule& gm, const ValueList& inputs);

// Collects the warnings and errors logged during its life.
class WarningLog {
 public:
  WarningLog();
  ~WarningLog();
  std::vector<std::string> messages() const;
  int count(const std::string& part) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> messages_;
};

}  // namespace fxjit::testing
