// The interpreter's convolutions and pooling by generated code, against its
// plain loops, which are what it takes in this program.
#include "src/compile/interpreted_windows.h"

#include "src/ops/eager/backend.h"
#include "tests/compile/window_layers.h"

namespace fxjit {
namespace TEST_FILE {

using namespace testing_windows;

// The call with all parameters bound, by either way.
struct BothWays {
  const ops::Op& op;
  std::vector<Value> args;

  BothWays(const char* name, const ValueList& given)
      : op(ops::get_op(name)), args(ops::bind(op, given, {})) {}

  Value plain() const { return ops::run_eager({op, args}); }
  bool generated(Value* result) const {
    return InterpretedWindows::shared().run({op, args}, result);
  }
};

void expect_same(const char* op, const ValueList& args,
                 double absolute = 1e-4) {
  const BothWays call(op, args);
  Value made;
  ASSERT_TRUE(call.generated(&made)) << op;
  const Value plain = call.plain();
  EXPECT_EQ(testing::value_difference(made, plain, 1e-4, absolute), "") << op;
  EXPECT_EQ(made.as_tensor().strides(), plain.as_tensor().strides()) << op;
}

TEST(InterpretedWindows, Convolutions) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    Draw draw(seed);
    const int64_t channels = draw.of({3, 4, 8, 16, 20});
    const int64_t groups = draw.half() ? channels : 1;
    const Dims taps = draw.dims(2, {1, 2, 3, 5});
    Dims weight{draw.of({1, 2}) * channels, channels / groups};
    for (int64_t size : taps) weight.push_back(size);
    const Tensor x = image({draw.of({1, 2}), channels, 13, 17}, draw);
    const Value bias =
        draw.half() ? Value(random_tensor({weight[0]})) : Value();
    SCOPED_TRACE(::testing::Message() << seed << " " << weight.str());
    expect_same("conv2d",
                {x, random_tensor(weight), bias, draw.dims(2, {1, 2}),
                 draw.dims(2, {0, 1, 2}), draw.dims(2, {1, 2}), groups});
  }
  expect_same("conv1d", {random_tensor({2, 6, 40}), random_tensor({6, 1, 5}),
                         Value(), 1, 2, 1, 6});
  expect_same("conv3d", {random_tensor({3, 6, 7, 8}),
                         random_tensor({4, 3, 3, 2, 3})});  // Without a batch.
  expect_same("conv2d", {random_tensor({1, 4, 9, 9}),
                         random_tensor({4, 4, 3, 3}), Value(), 1, "same"});
  expect_same("conv_transpose2d", {random_tensor({1, 4, 6, 7}),
                                   random_tensor({4, 5, 3, 3}), Value(), 2});
  expect_same("conv2d",
              {random_tensor({1, 8, 9, 9}, DType::bf16),
               random_tensor({8, 1, 3, 3}, DType::bf16), Value(), 1, 1, 1, 8},
              0.2);
}

TEST(InterpretedWindows, Pooling) {
  expect_same("max_pool2d", {random_tensor({2, 5, 14, 15}), 3, 2, 1});
  expect_same("max_pool2d", {random_tensor({5, 14, 15}), 3, 2, 1, 1, true});
  expect_same("max_pool1d", {random_tensor({2, 5, 40}), 4, 3, 2});
  expect_same("avg_pool2d",
              {random_tensor({1, 5, 14, 15}), 3, 2, 1, true, false});
  expect_same("avg_pool3d", {random_tensor({1, 2, 6, 7, 8}), 2});
}

// This program has its environment say that plain loops are to compute them.
TEST(InterpretedWindows, AreInstalled) {
  const ops::WindowBackend installed = ops::set_window_backend(nullptr);
  ops::set_window_backend(installed);
  ASSERT_NE(installed, nullptr);
  Value made;
  const BothWays call("max_pool2d", {random_tensor({1, 64, 99, 99}), 3});
  EXPECT_FALSE(installed({call.op, call.args}, &made));
}

// A program of these would call the plain loops.
TEST(InterpretedWindows, LeavesWhatIsNotGenerated) {
  Value made;
  const Tensor x = random_tensor({1, 4, 9, 9}, DType::f64);
  EXPECT_FALSE(BothWays("conv2d", {x, random_tensor({4, 4, 3, 3}, DType::f64)})
                   .generated(&made));
  EXPECT_FALSE(
      BothWays("max_pool2d_with_indices", {random_tensor({1, 4, 9, 9}), 3})
          .generated(&made));
}

TEST(InterpretedWindows, KeepsTheProgramsOfSomeCalls) {
  InterpretedWindows windows;
  Value made;
  for (int64_t size = 3; size < 3 + 2 * int64_t{InterpretedWindows::kMost};
       ++size) {
    const BothWays call("max_pool2d",
                        {random_tensor({1, 1, size, 3}, DType::f64), 2});
    windows.run({call.op, call.args}, &made);
    windows.run({call.op, call.args}, &made);
    EXPECT_LE(windows.kept(), InterpretedWindows::kMost);
  }
  EXPECT_EQ(windows.kept(), InterpretedWindows::kMost);
}

}  // namespace TEST_FILE
}  // namespace fxjit
