// Ops with direct kernels in compiled programs: ordering, and writing to places
// that index tensors give.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::random_tensor;

template <typename Fn>
void expect_native(Fn fn, const ValueList& inputs) {
  std::vector<nn::ArgSpec> names;
  for (size_t i = 0; i < inputs.size(); ++i)
    names.emplace_back("x" + std::to_string(i));
  const auto gm = fx::symbolic_trace(fn, nn::Signature(names), "f");
  for (CpuLevel level : testing::host_levels()) {
    compile(*gm, testing::options_for(level, 2));
    EXPECT_EQ(testing::value_difference(gm->forward(inputs),
                                        gm->interpret(inputs), 1e-6, 1e-6),
              "");
    EXPECT_THAT(report(*gm), Not(HasSubstr("not native")));
    EXPECT_THAT(report(*gm), Not(HasSubstr("interpreter")));
  }
}

Tensor places(const Dims& sizes, int64_t bound) {
  const Tensor made = Tensor::empty(sizes, DType::i64);
  for (int64_t i = 0; i < made.numel(); ++i)
    made.data_as<int64_t>()[i] = (i * 7 + 3) % bound;
  return made;
}

Value both(const Value& pair) {
  return Value::tuple({getitem(pair, 0) * 1, getitem(pair, 1) + 0});
}

TEST(Placing, ScatterAlongEveryDim) {
  for (DType dtype :
       {DType::f32, DType::f64, DType::f16, DType::i64, DType::u8})
    for (int dim : {0, 1, -1}) {
      expect_native([=](Value x, Value i,
                        Value s) { return scatter_add(x * 1, dim, i, s) + 1; },
                    {random_tensor({6, 7, 5}, dtype), places({4, 6, 5}, 5),
                     random_tensor({4, 6, 5}, dtype)});
      expect_native(
          [=](Value x, Value i, Value s) {
            return scatter(transpose(x, 0, 1), dim, i, s);
          },
          {random_tensor({7, 6, 5}, dtype), places({4, 6, 5}, 5),
           random_tensor({4, 6, 5}, dtype)});
    }
}

// One index for a row of elements, as graph networks have it.
TEST(Placing, RowsAreAddedUp) {
  const auto sums = [](Value x, Value i, Value s) {
    return scatter_add(x, 0, expand(unsqueeze(i, 1), {40, 17}), s);
  };
  expect_native(
      sums, {random_tensor({9, 17}), places({40}, 9), random_tensor({40, 17})});
  const auto added = [](Value x, Value i, Value s) {
    return method(x, "index_add", {0, i, s}, {{"alpha", 0.5}});
  };
  expect_native(added, {random_tensor({9, 17}), places({40}, 9),
                        random_tensor({40, 17})});
  const auto copied = [](Value x, Value i, Value s) {
    return method(x, "index_copy", {1, i, s}) * 2;
  };
  expect_native(copied, {random_tensor({3, 20, 4}), places({2}, 20),
                         random_tensor({3, 2, 4})});
}

TEST(Placing, BadPlacesAreErrors) {
  const auto gm = fx::symbolic_trace(
      [](Value x, Value i, Value s) { return scatter_add(x, 0, i, s) * 2; },
      {"x", "i", "s"}, "f");
  compile(*gm, testing::options_for(host_cpu_level(), 1));
  const ValueList inputs{random_tensor({3, 4}), places({5, 4}, 7),
                         random_tensor({5, 4})};
  EXPECT_THROW(gm->forward(inputs), Error);
  EXPECT_THROW(gm->interpret(inputs), Error);
}

TEST(Placing, FirstInOrder) {
  for (DType dtype : {DType::f32, DType::f16, DType::i32})
    for (bool largest : {false, true}) {
      expect_native(
          [=](Value x) { return both(method(x + 0, "topk", {3, 1, largest})); },
          {random_tensor({4, 70, 3}, dtype)});
      expect_native(
          [=](Value x) { return both(method(x, "topk", {90, -1, largest})); },
          {random_tensor({3, 300}, dtype)});
    }
  const Tensor x = random_tensor({2, 200});
  x.data_as<float>()[7] = x.data_as<float>()[150] = NAN;
  x.data_as<float>()[30] = INFINITY;
  x.data_as<float>()[250] = -INFINITY;
  for (bool largest : {false, true})
    expect_native(
        [=](Value x) { return both(method(x, "topk", {5, 1, largest})); }, {x});
}

TEST(Placing, Sorted) {
  for (int dim : {0, 1})
    for (bool descending : {false, true})
      expect_native(
          [=](Value x) {
            return both(method(x * 2, "sort", {dim, descending}));
          },
          {random_tensor({30, 21})});
  expect_native([](Value x) { return method(x, "argsort", {1}) + 1; },
                {random_tensor({5, 40})});
}

}  // namespace TEST_FILE
}  // namespace fxjit
