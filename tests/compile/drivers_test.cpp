// Drivers of whole programs: what they call themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/inspection.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::random_tensor;

// The driver's code, without its block for calls that are measured, of a model
// of which a few calls give what the interpreter gives.
std::string driver_of(const std::function<Value(Value)>& forward,
                      const ValueList& inputs) {
  const auto gm = fx::symbolic_trace(forward, {"x"});
  const Value expected = gm->forward(inputs);
  compile(*gm, testing::quick());
  for (int call = 0; call < 3; ++call)
    EXPECT_EQ(
        testing::value_difference(gm->forward(inputs), expected, 1e-5, 1e-5),
        "");
  const Inspection seen = inspect(*gm, inputs, {.calls = 1});
  const std::string& ir = seen.programs.at(0).driver.ir;
  return ir.substr(0, ir.find("\nobserved:"));
}

Value channels_last(const Dims& sizes) {
  return permute(random_tensor(sizes), {0, 3, 1, 2});
}

TEST(Drivers, CallKernels) {
  const Tensor weight = random_tensor({16, 16});
  const std::string driver =
      driver_of([&](Value x) { return softmax(relu(matmul(x, weight)), -1); },
                {random_tensor({4, 16})});
  EXPECT_THAT(driver, HasSubstr("call void %kernel"));
  EXPECT_THAT(driver, Not(HasSubstr("fxjit_run_step")));
}

// Arguments of the call's own are set for each call, others once.
TEST(Drivers, CallPrimitivesOfOneDnn) {
  // Steps of a small image take one thread. Weights are of the size that sums
  // of 100 products have in nets: the interpreter adds them in another order.
  const Value size = 0.1;
  const Value first = random_tensor({40, 20, 3, 3}) * size,
              second = random_tensor({48, 20, 3, 3}) * size,
              bias = random_tensor({48});
  const std::string driver = driver_of(
      [&](Value x) {
        const Value y = F::conv2d(x, first, None, 1, 1, 1, 2);
        return F::conv2d(y, second, bias, 1, 1, 1, 2);
      },
      {channels_last({1, 9, 7, 40})});
  EXPECT_THAT(driver, HasSubstr("@dnnl_primitive_execute("));
  EXPECT_THAT(driver, HasSubstr("@dnnl_memory_set_data_handle("));
}

TEST(Drivers, LeaveRoutinesToTheRuntime) {
  const std::string driver = driver_of(
      [&](Value x) { return cumsum(relu(x), 1); }, {random_tensor({4, 16})});
  EXPECT_THAT(driver, HasSubstr("@fxjit_run_step("));
  EXPECT_THAT(driver, Not(HasSubstr("@dnnl_primitive_execute(")));
}

}  // namespace TEST_FILE
}  // namespace fxjit
