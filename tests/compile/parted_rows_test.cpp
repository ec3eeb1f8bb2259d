// Rows and columns that are too few for the threads, cut into pieces: against
// the same graph in double precision.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

using testing::random_tensor;

using Fn = std::function<Value(Value)>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Value along(int64_t dim) { return Value::list({dim}); }

Value layer_norm_of(Value x, int64_t dim) {
  const Value centred = x - mean(x, along(dim), true);
  return centred * rsqrt(mean(centred * centred, along(dim), true) + 1e-5);
}

// Whether the program says of some step that it is one of several.
bool is_parted(const fx::GraphModule& gm, const Value& x) {
  for (const testing::StepView& step : testing::steps_for(gm, ValueList{x}))
    if (step.label.find(" of ") != std::string::npos) return true;
  return false;
}

Value as_double(const Value& value) {
  if (!value.is_tensor()) {
    ValueList items;
    for (const Value& item : value.as_sequence())
      items.push_back(as_double(item));
    return Value::tuple(std::move(items));
  }
  const Tensor& tensor = value.as_tensor();
  return is_floating(tensor.dtype()) ? Value(tensor.to(DType::f64)) : value;
}

// fn of x at every level, by two and by three threads, within `near` of the
// interpreter in double precision.
void expect_parted(const Fn& fn, const Tensor& x, double near,
                   bool parted = true) {
  const auto gm = fx::symbolic_trace(fn, {"x"}, "f");
  const Tensor wide = is_floating(x.dtype()) ? x.to(DType::f64) : x;
  const Value expected = as_double(gm->interpret(ValueList{wide}));
  for (CpuLevel level : testing::host_levels())
    for (int threads : {2, 3}) {
      compile(*gm, testing::options_for(level, threads));
      const Value got = as_double(gm->forward({x}));
      EXPECT_EQ(is_parted(*gm, x), parted) << x.sizes().str();
      EXPECT_EQ(testing::value_difference(got, expected, near, near / 4), "")
          << x.sizes().str() << " by " << threads << " threads";
    }
}

// One row of the last dim, few rows side by side in lanes: all of them at once,
// and groups.
const std::vector<Dims>& shapes() {
  static const std::vector<Dims> kShapes = {
      Dims{1, 240000, 1}, Dims{1, 2400, 150}, Dims{1, 6000, 32},
      Dims{1, 240, 1001}, Dims{1, 1920, 128}};
  return kShapes;
}

// Those that columns would not be shared by threads either.
const std::vector<Dims>& narrow_shapes() {
  static const std::vector<Dims> kShapes = {Dims{1, 240000, 1},
                                            Dims{1, 2400, 150}};
  return kShapes;
}

TEST(PartedRows, SoftmaxEqualsDoublePrecision) {
  for (const Dims& sizes : shapes()) {
    expect_parted([](Value x) { return softmax(x, 1); }, random_tensor(sizes),
                  8e-6);
    expect_parted([](Value x) { return log_softmax(x, 1); },
                  random_tensor(sizes), 8e-6);
  }
}

TEST(PartedRows, NormsEqualDoublePrecision) {
  for (const Dims& sizes : shapes())
    expect_parted([](Value x) { return layer_norm_of(x, 1); },
                  random_tensor(sizes), 4e-5);
}

TEST(PartedRows, ResultsOfOneElementForEachRow) {
  for (const Dims& sizes : narrow_shapes()) {
    expect_parted([](Value x) { return logsumexp(x, along(1)); },
                  random_tensor(sizes), 8e-6);
    expect_parted(
        [](Value x) {
          const Value total = sum(x * x, along(1), true);
          return Value::tuple({x * rsqrt(total), total, amax(x, along(1))});
        },
        random_tensor(sizes), 2e-5);
    expect_parted(
        [](Value x) { return exp(mean(tanh(x) * 2.0, along(1))) + 1.0; },
        random_tensor(sizes), 2e-5);
  }
}

// What is constant along a row is written at each of its elements.
TEST(PartedRows, SumsThatAreExpanded) {
  for (const Dims& sizes : narrow_shapes())
    expect_parted([](Value x) { return sum(exp(x), along(1), true) + x * 0.0; },
                  random_tensor(sizes), 2e-5);
}

TEST(PartedRows, EveryReduction) {
  for (const Dims& sizes : narrow_shapes()) {
    expect_parted([](Value x) { return x - amin(x, along(1), true); },
                  random_tensor(sizes), 1e-6);
    expect_parted([](Value x) { return x * prod(x * 0.0001 + 1.0, 1, true); },
                  random_tensor(sizes), 2e-3);
    expect_parted(
        [](Value x) {
          return Value::tuple({any(gt(x, 1.9999), 1), all(lt(x, 1.9999), 1)});
        },
        random_tensor(sizes), 0);
  }
}

TEST(PartedRows, OfOtherTypes) {
  for (const Dims& sizes : narrow_shapes()) {
    const Fn fn = [](Value x) { return softmax(x, 1); };
    expect_parted(fn, random_tensor(sizes, DType::f64), 1e-12);
    expect_parted(fn, random_tensor(sizes, DType::f16), 2e-3);
    expect_parted(fn, random_tensor(sizes, DType::bf16), 1e-2);
    for (const DType integer : {DType::i64, DType::i32, DType::u8})
      expect_parted([](Value x) { return x * sum(x, along(1), true); },
                    random_tensor(sizes, integer), 0);
  }
}

TEST(PartedRows, NanAndInfinityStay) {
  for (const Dims& sizes : narrow_shapes())
    for (const double special : {kNan, kInfinity, -kInfinity})
      for (const int64_t at : {int64_t{0}, int64_t{numel(sizes) - 1}}) {
        Tensor x = random_tensor(sizes);
        x.data_as<float>()[at] = static_cast<float>(special);
        expect_parted([](Value v) { return softmax(v, 1); }, x, 8e-6);
        expect_parted([](Value v) { return v - amax(v, along(1), true); }, x,
                      8e-6);
        expect_parted([](Value v) { return sum(v * 2.0, along(1)); }, x, 1e-4);
      }
}

// Factors along rows, along neighbours and of both.
TEST(PartedRows, OperandsThatAreBroadcast) {
  const Value of_row = random_tensor({2400, 1}, DType::f32, 2);
  const Value of_neighbour = random_tensor({150}, DType::f32, 3);
  const Value one = random_tensor({1}, DType::f32, 4);
  expect_parted(
      [=](Value x) {
        return layer_norm_of(x * of_neighbour + one, 1) * of_row + of_neighbour;
      },
      random_tensor({1, 2400, 150}), 1e-4);
  const Value scale = random_tensor({240000}, DType::f32, 5);
  expect_parted([=](Value x) { return layer_norm_of(x, 1) * scale + one; },
                random_tensor({1, 240000}), 1e-4);
}

TEST(PartedRows, OfStridedViews) {
  const Tensor whole = random_tensor({2400, 320});
  expect_parted([](Value x) { return softmax(x, 0); },
                whole.as_strided({2400, 150}, {320, 1}, 7), 8e-6);
  expect_parted([](Value x) { return softmax(x, 0); },
                whole.as_strided({2400, 150}, {320, 2}, 3), 8e-6, false);
  expect_parted([](Value x) { return softmax(x, 1); },
                whole.as_strided({1, 240000}, {240000, 3}, 1), 8e-6);
}

// Two sums of which one reads the other's result, and a value between that is
// kept.
TEST(PartedRows, LongBodies) {
  for (const Dims& sizes : narrow_shapes())
    expect_parted(
        [](Value x) {
          const Value shares = softmax(x, 1);
          const Value bent = tanh(x) * shares;
          return Value::tuple({layer_norm_of(bent * 1000.0, 1), shares,
                               sum(bent, along(1)), gt(shares, 1e-4)});
        },
        random_tensor(sizes), 2e-3);
}

TEST(PartedRows, ColumnsEqualDoublePrecision) {
  for (const Dims& sizes :
       {Dims{3000, 40}, Dims{12000, 7}, Dims{1, 4000, 33}}) {
    const int64_t dim = sizes.size() - 2;
    expect_parted([=](Value x) { return sum(exp(x), along(dim)); },
                  random_tensor(sizes), 1e-5);
    expect_parted(
        [=](Value x) { return sqrt(mean(x * x, along(dim)) + 1.0) * 2.0; },
        random_tensor(sizes), 1e-5);
    expect_parted(
        [=](Value x) {
          return Value::tuple(
              {amax(x, along(dim)), mean(tanh(x), along(dim), true)});
        },
        random_tensor(sizes), 1e-5);
  }
}

// No number of equal pieces, enough rows, little work.
TEST(PartedRows, OthersStayWhole) {
  const Fn fn = [](Value x) { return softmax(x, 1); };
  expect_parted(fn, random_tensor({1, 100003, 1}), 8e-6, false);
  expect_parted(fn, random_tensor({6, 20000, 1}), 8e-6, false);
  expect_parted(fn, random_tensor({1, 640, 1}), 8e-6, false);
  expect_parted(fn, random_tensor({1, 24000, 3}), 8e-6, false);
  expect_parted(fn, random_tensor({0, 24000, 30}), 8e-6, false);
}

// One order of sums, whatever is there beside the row.
TEST(PartedRows, StrictSumsStayWhole) {
  for (const Dims& sizes : narrow_shapes()) {
    const auto gm = fx::symbolic_trace(
        [](Value x) { return sum(exp(x), along(1)); }, {"x"}, "f");
    CompileOptions options =
        testing::options_for(testing::host_levels().front(), 2);
    options.strict_sums = true;
    compile(*gm, options);
    const Tensor x = random_tensor(sizes);
    gm->forward({x});
    EXPECT_FALSE(is_parted(*gm, x));
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
