// Calls that write their argument, which readers of its memory see.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

using testing::random_tensor;
using testing::value_difference;
using testing::WarningLog;

Value copy(const Value& input) { return Value(input.as_tensor().clone()); }

// Called twice, on copies: compiled and by the interpreter. Inputs afterwards
// are compared, too. Tells whether native code served.
template <typename Fn>
bool compiled(Fn fn, const ValueList& inputs) {
  std::vector<nn::ArgSpec> names;
  for (size_t i = 0; i < inputs.size(); ++i)
    names.emplace_back("x" + std::to_string(i));
  const auto gm = fx::symbolic_trace(fn, nn::Signature(names), "f");
  compile(*gm, testing::options_for(host_cpu_level()));
  WarningLog log;
  for (int call = 0; call < 2; ++call) {
    ValueList given, known;
    for (const Value& input : inputs) {
      given.push_back(copy(input));
      known.push_back(copy(input));
    }
    const Value got = gm->forward(given), expected = gm->interpret(known);
    EXPECT_EQ(value_difference(got, expected, 1e-5, 1e-6), "");
    for (size_t i = 0; i < inputs.size(); ++i)
      EXPECT_EQ(value_difference(given[i], known[i], 0, 0), "");
  }
  const bool interpreted = report(*gm).find("interpreter") != std::string::npos;
  EXPECT_EQ(log.count("in place"), interpreted ? 1 : 0);
  return !interpreted;
}

ValueList one() { return {random_tensor({3, 4})}; }
ValueList two() {
  return {random_tensor({3, 4}), random_tensor({3, 4}, DType::f32, 2)};
}

TEST(Writes, ToValuesOfTheGraphAreCompiled) {
  EXPECT_TRUE(compiled(
      [](Value x) { return method(method(x * 2, "add_", {1}), "relu_"); },
      one()));
  EXPECT_TRUE(compiled(
      [](Value x, Value y) {
        const Value sum = x + y;
        const Value act = function("F.relu", {sum}, {{"inplace", true}});
        return act * 3;
      },
      two()));
  EXPECT_TRUE(compiled(
      [](Value x, Value y) {
        return method(x * 2, "mul_", {getitem(y, 0)});  // Broadcast.
      },
      two()));
}

TEST(Writes, AreSeenByLaterReaders) {
  EXPECT_TRUE(compiled(
      [](Value x) {
        const Value y = x * 2;
        const Value before = y + 0.5;
        method(y, "add_", {1});
        const Value between = y * y;
        method(y, "neg_");
        return Value::tuple({before, between, y, tanh(y)});
      },
      one()));
}

TEST(Writes, OfEqualValuesStayApart) {
  EXPECT_TRUE(compiled(
      [](Value x) {
        const Value a = relu(x), b = relu(x);  // One node once merged.
        method(a, "add_", {1});
        return a * b;
      },
      one()));
}

TEST(Writes, ThroughViewsThatOthersReadAreCompiled) {
  EXPECT_TRUE(compiled(
      [](Value x) {
        const Value y = x * 2;
        const Value rows = view(y, {12});
        method(y, "add_", {1});
        return rows * 2;
      },
      one()));
  EXPECT_TRUE(compiled(
      [](Value x) {
        const Value y = x * 2;
        method(getitem(y, 1), "add_", {1});
        return y;
      },
      one()));
}

TEST(Writes, ToViewsOfATransposedBaseAreCompiled) {
  EXPECT_TRUE(compiled(
      [](Value x) {
        const Value y = transpose(x, 0, 1) * 2;
        const Value turned = transpose(y, 0, 1);
        const Value every_other = Value::slice(None, None, 2);
        const Value part = getitem(y, every_other);
        method(part, "mul_", {part + 1});
        return Value::tuple({y + 1, turned, part * 3});
      },
      one()));
}

TEST(Writes, OfPartsFillATensor) {
  EXPECT_TRUE(compiled(
      [](Value x, Value y) {
        const Value all = method(x, "new_empty", {Value::list({2, 3, 4})});
        method(select(all, 0, 0), "copy_", {x});
        method(select(all, 0, 1), "fill_", {2});
        const Value corner = narrow(narrow(all, 1, 1, 2), 2, 0, 3);
        method(corner, "copy_", {narrow(narrow(y, 0, 0, 2), 1, 1, 3)});
        method(select(select(all, 0, 1), 1, 3), "zero_");
        return all + 1;
      },
      two()));
}

TEST(Writes, ToWhatAnotherCallGaveBackAreCompiled) {
  EXPECT_TRUE(compiled(
      [](Value x) {
        const Value y = x * 2;
        const Value same = method(y, "contiguous");
        method(y, "add_", {1});
        return same + y;
      },
      one()));
}

TEST(Writes, ToViewsThatOnlyTheyReadAreCompiled) {
  EXPECT_TRUE(compiled(
      [](Value x) { return method(view(x * 2, {12}), "add_", {1}) + 1; },
      one()));
  EXPECT_TRUE(compiled(
      [](Value x) { return method(narrow(x * 2, 1, 1, 2), "mul_", {3}) + 1; },
      one()));
}

TEST(Writes, ToInputsAreCompiled) {
  EXPECT_TRUE(
      compiled([](Value x) { return method(x, "add_", {1}) * 2; }, one()));
  EXPECT_TRUE(compiled(
      [](Value x) { return method(view(x, {12}), "mul_", {2}); }, one()));
}

TEST(Writes, KeepTheTypeOfTheirPlace) {
  EXPECT_TRUE(compiled(
      [](Value x, Value y) {
        return method(method(x * 2, "to", {DType::f64}), "add_", {y});
      },
      two()));
}

TEST(Writes, ToNewTensorsAreCompiled) {
  const Value index = Tensor::from(std::vector<int64_t>{2, 0, 1}, {3, 1});
  EXPECT_TRUE(compiled(
      [=](Value x) {
        const Value zeros = method(x, "new_zeros", {3, 4});
        method(zeros, "scatter_", {1, index, 1.0});
        const Value least = function("torch.full_like", {x, -1e9});
        method(least, "masked_fill_", {x > 0, 2.0});
        return Value::tuple({zeros, least});
      },
      one()));
  EXPECT_TRUE(compiled(
      [=](Value x) {
        const Value sums = function("torch.zeros_like", {x});
        return method(sums, "index_add_",
                      {0, Tensor::from(std::vector<int64_t>{1, 1, 0}, {3}), x});
      },
      one()));
}

void set_item(const Value& x, const Value& index, const Value& value) {
  fx::call_by_name("_operator.setitem", {x, index, value});
}

TEST(Writes, OfItemsAreCompiled) {
  const Value all = Value::slice(None, None);
  const auto sets = [](const Value& index, const Value& value) {
    return compiled(
        [=](Value x, Value y) {
          const Value z = x * 2;
          const Value before = z + y;
          set_item(z, index, value);
          return Value::tuple({before, z, z * y});
        },
        two());
  };
  EXPECT_TRUE(sets(1, 9));
  EXPECT_TRUE(sets(Ellipsis, true));
  EXPECT_TRUE(sets(Value::tuple({-1, Value::slice(1, None, 2)}), 0.5));
  EXPECT_TRUE(sets(Value::tuple({all, 1}), random_tensor({3})));
  EXPECT_TRUE(sets(Value::slice(0, 2), random_tensor({1, 1, 1, 4})));
  EXPECT_TRUE(sets(Value::slice(2, 2), 7));
  EXPECT_TRUE(sets(Value::tuple({all, None, 3}), 4.0));
  EXPECT_TRUE(sets(Tensor::from(std::vector<int64_t>{2, 0}, {2}),
                   random_tensor({4}, DType::f64)));
  EXPECT_TRUE(compiled(
      [=](Value x, Value y) {  // By what is known at the call only.
        const Value z = method(x, "clone");
        const Value at = function("torch.argmax", {y, 1});
        set_item(z, Value::tuple({all, at}), 5);
        method(z, "__setitem__", {y > 0.5, -1});
        return z;
      },
      two()));
}

TEST(Writes, OfItemsAreSeenThroughViews) {
  EXPECT_TRUE(compiled(
      [](Value x) {
        const Value y = x * 2, row = getitem(y, 1);
        set_item(y, 1, 3);
        set_item(row, 0, 5);
        return y + row;
      },
      one()));
}

TEST(Writes, OfItemsThatOthersSeeAreCompiled) {
  EXPECT_TRUE(compiled(
      [](Value x) {
        set_item(x, 0, 1);
        return x * 2;
      },
      one()));
  EXPECT_TRUE(compiled(
      [](Value x) {
        const Value y = x * 2, row = getitem(y, 1);
        set_item(y, 1, 3);
        return row + 1;
      },
      one()));
}

TEST(Writes, OfItemsThatDoNotFitAreErrors) {
  const auto gm = fx::symbolic_trace(
      [](Value x) {
        const Value y = x * 2;
        set_item(y, Value::slice(0, 2), random_tensor({3, 4}));
        return y;
      },
      {"x"}, "f");
  compile(*gm, testing::options_for(host_cpu_level()));
  EXPECT_THROW(gm->interpret(one()), RuntimeError);
  EXPECT_THROW(gm->forward(one()), RuntimeError);
}

TEST(Writes, OfLayers) {
  class Act : public nn::Custom<Act, nn::LeafModule> {
   public:
    Act() : Custom("Act", {"x"}) {}
    Value forward(Value x) {
      return function("F.relu", {x}, {{"inplace", true}});
    }
  };
  class Net : public nn::Custom<Net> {
   public:
    Net() : Custom("Net", {"x"}) {
      conv = register_module("conv", nn::Conv2d::create(3, 8, 3));
      norm = register_module("norm", nn::BatchNorm2d::create(8));
      act = register_module("act", Act::create());
    }
    Value forward(Value x) {
      const Value y = act(norm(conv(x)));
      return act(y + y);
    }
    nn::Ref<nn::Conv2d> conv;
    nn::Ref<nn::BatchNorm2d> norm;
    nn::Ref<Act> act;
  };
  const auto net = Net::create();
  net->eval();
  const auto gm = fx::symbolic_trace(net);
  compile(*gm, testing::options_for(host_cpu_level()));
  const ValueList inputs{random_tensor({2, 3, 8, 8})};
  EXPECT_EQ(
      value_difference(gm->forward(inputs), gm->interpret(inputs), 1e-5, 1e-5),
      "");
  EXPECT_THAT(report(*gm), ::testing::Not(::testing::HasSubstr("interpreter")));
}

}  // namespace TEST_FILE
}  // namespace fxjit
