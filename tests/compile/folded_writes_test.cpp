// Writes to values that are computed of constants alone, and so folded: all who
// share their memory see them, as in the interpreter.
#include <gtest/gtest.h>

#include <functional>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "fxjit/report.h"
#include "tests/compile/compile_testing.h"
#include "tests/ops/storages.h"

namespace fxjit {
namespace TEST_FILE {

using testing::memories;
using testing::quick;
using testing::random_tensor;
using testing::value_difference;

Value method_of(const Value& x, const char* name, const ValueList& args = {}) {
  return method(x, name, args);
}

// `fn` of the module's parameter `w` and the input.
void expect_as_interpreted(std::function<Value(Value w, Value x)> fn,
                           const Tensor& x = Tensor::full({1}, 1)) {
  const auto module = nn::lambda("Folded", {"x"},
                                 [fn](nn::Module& self, Value input) {
                                   return fn(self.param("w"), input);
                                 },
                                 {{"w", nn::Parameter(random_tensor({4, 3}))}});
  const auto gm = fx::symbolic_trace(module);
  compile(*gm, quick());
  for (int call = 0; call < 2; ++call) {
    const Value expected = gm->interpret(ValueList{x});
    const Value got = gm->forward(ValueList{x});
    EXPECT_EQ(value_difference(got, expected, 1e-6, 1e-6), "") << call;
    EXPECT_EQ(memories(got, ValueList{x}), memories(expected, ValueList{x}));
  }
}

TEST(FoldedWrites, AreSeenByViewsTakenBehindThem) {
  expect_as_interpreted([](Value w, Value x) {
    const Value y = w * w;
    const Value z = method_of(y, "tanh_");
    return Value::tuple({z, method_of(y, "reshape", {Value::list({12})}), x});
  });
}

TEST(FoldedWrites, ToPartsAreSeenByAll) {
  expect_as_interpreted([](Value w, Value x) {
    const Value grid = exp(w), row = method_of(grid, "select", {0, 1});
    method_of(row, "add_", {3});
    method_of(method_of(grid, "select", {0, 1}), "copy_", {row});
    const Value before = grid * 1;
    method_of(method_of(grid, "select", {1, 2}), "mul_", {7});
    method_of(method_of(grid, "select", {0, 2}), "copy_", {x});
    return Value::tuple({grid, row, before, sum(grid) + x});
  });
}

// As tables of relative positions are made; one step is left, the sum.
TEST(FoldedWrites, ToPartsOfKnownNumbersStayKnown) {
  const auto module =
      nn::lambda("Folded", {"x"},
                 [](nn::Module& self, Value x) {
                   const Value grid =
                       method_of(method_of(self.param("w"), "t"), "contiguous");
                   const Value before = grid * 2;
                   method_of(method_of(grid, "select", {1, 0}), "add_", {3});
                   method_of(method_of(grid, "select", {1, 1}), "copy_",
                             {method_of(grid, "select", {1, 0})});
                   return x + grid + before;
                 },
                 {{"w", nn::Parameter(random_tensor({4, 3}))}});
  const auto gm = fx::symbolic_trace(module);
  compile(*gm, quick());
  const ValueList inputs{random_tensor({3, 4})};
  EXPECT_EQ(
      value_difference(gm->forward(inputs), gm->interpret(inputs), 1e-6, 1e-6),
      "");
  const Report report = make_report(*gm);
  EXPECT_TRUE(report.native());
  ASSERT_EQ(report.programs.size(), 1u);
  EXPECT_EQ(report.programs[0].steps.size(), 1u);
}

// A leaf whose forward goes on with what it wrote.
class Shifted : public nn::Custom<Shifted, nn::LeafModule> {
 public:
  Shifted() : Custom("Shifted", {"x"}) {}
  Value forward(Value x) {
    method_of(x, "add_", {1});
    return x * 2;
  }
};

TEST(FoldedWrites, OfModulesAreSeenByThem) {
  class Net : public nn::Custom<Net> {
   public:
    Net() : Custom("Net", {"x"}) {
      shifted = register_module("shifted", Shifted::create());
    }
    Value forward(Value x) {
      const Value ones = method_of(x, "new_ones", {Value::list({1})});
      return shifted(ones) + ones * 3 + x;
    }
    nn::Ref<Shifted> shifted;
  };
  const auto gm = fx::symbolic_trace(Net::create());
  compile(*gm, quick());
  const ValueList inputs{random_tensor({3})};
  EXPECT_EQ(
      value_difference(gm->forward(inputs), gm->interpret(inputs), 1e-6, 1e-6),
      "");
}

TEST(FoldedWrites, OfInputsToViewsAreSeenByTheirBase) {
  expect_as_interpreted([](Value w, Value x) {
    const Value y = exp(w);
    const Value z = method_of(y, "sin_");
    const Value row = method_of(y, "select", {0, 1});
    method_of(row, "add_", {x});
    return z;
  });
}

TEST(FoldedWrites, ToViewsOfViewsAreSeenByThose) {
  expect_as_interpreted([](Value w, Value x) {
    const Value column = method_of(exp(w), "select", {1, 0});
    const Value less = method_of(column, "sub_", {1.0});
    const Value deep = method_of(less, "unsqueeze", {0});
    method_of(deep, "cos_");
    return Value::tuple({less, x});
  });
}

TEST(FoldedWrites, OfEqualValuesStayApart) {
  expect_as_interpreted([](Value w, Value x) {
    const Value first = exp(w), second = exp(w);
    method_of(first, "neg_");
    return Value::tuple({first, second, x});
  });
}

TEST(FoldedWrites, ToPartsOfRotatedInputs) {
  expect_as_interpreted(
      [](Value w, Value x) {
        const Value turned = function("torch.rot90", {x});
        const Value parts = method_of(turned, "chunk", {2, 0});
        method_of(getitem(parts, 0), "mul_", {2.0});
        return Value::tuple({getitem(parts, 0), getitem(parts, 1), w});
      },
      random_tensor({6, 4}));
}

}  // namespace TEST_FILE
}  // namespace fxjit
