// Calls that write inputs and fail, before the write or behind it: inputs are
// as the interpreter leaves them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/report.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::HasSubstr;
using testing::quick;
using testing::random_tensor;
using testing::value_difference;

Value position(int64_t at) {
  return Tensor::from(std::vector<int64_t>{at}, {1});
}

void set_item(const Value& x, const Value& index, const Value& value) {
  fx::call_by_name("_operator.setitem", {x, index, value});
}

TEST(FailingWrites, ToInputsAreAsTheInterpreterLeavesThem) {
  const auto gm = fx::symbolic_trace(
      [](Value x, Value at) {
        method(x, "index_put_",
               {Value::list({Value(position(1))}), getitem(x, 0) + 1});
        const Value sum = x * 2;
        method(x, "add_", {1});
        return sum + function("torch.index_select", {x, 0, at});
      },
      {"x", "at"}, "f");
  compile(*gm, quick());
  const Tensor good = Tensor::from(std::vector<int64_t>{0, 2, 1}, {3});
  const Tensor bad = Tensor::from(std::vector<int64_t>{0, 9, 1}, {3});
  const Tensor x = random_tensor({3, 4}), known = x.clone();
  EXPECT_EQ(
      value_difference(gm->forward(ValueList{Value(x), Value(good)}),
                       gm->interpret(ValueList{Value(known), Value(good)}),
                       1e-6, 1e-6),
      "");
  EXPECT_TRUE(make_report(*gm).native()) << report(*gm);
  EXPECT_THROW(gm->forward(ValueList{Value(x), Value(bad)}), Error);
  EXPECT_THROW(gm->interpret(ValueList{Value(known), Value(bad)}), Error);
  EXPECT_EQ(value_difference(Value(x), Value(known), 0, 0), "");
}

TEST(FailingWrites, AreUndoneWhenALaterStepFails) {
  const auto gm = fx::symbolic_trace(
      [](Value x, Value at) {
        method(x, "index_put_",
               {Value::list({Value(position(1))}), getitem(x, 0) * 2, true});
        return function("torch.index_select", {x * 3, 0, at});
      },
      {"x", "at"}, "f");
  compile(*gm, quick());
  const Tensor good = Tensor::from(std::vector<int64_t>{0, 2}, {2});
  const Tensor bad = Tensor::from(std::vector<int64_t>{0, 9}, {2});
  const Tensor x = random_tensor({3, 4}), known = x.clone();
  for (const Tensor& at : {good, bad, good}) {
    const auto call = [&](auto run) {
      try {
        run();
      } catch (const Error&) {
      }
    };
    call([&] { gm->forward(ValueList{Value(x), Value(at)}); });
    call([&] { gm->interpret(ValueList{Value(known), Value(at)}); });
    EXPECT_EQ(value_difference(Value(x), Value(known), 1e-6, 1e-6), "");
  }
}

using Update = std::function<void(Value x, Value places)>;

const Update kUpdates[] = {
    [](Value x, Value places) {
      method(x, "index_add_", {0, places, getitem(x, Value::slice(0, 2)) * 2});
    },
    [](Value x, Value places) {
      const Value index = expand(unsqueeze(places, 1), {2, 4});
      method(x, "scatter_", {0, index, 0.5});
    },
    [](Value x, Value places) {
      const Value index = expand(unsqueeze(places, 0), {3, 2});
      method(x, "scatter_add_", {1, index, x * 3});
    },
    [](Value x, Value places) {
      const Value index = expand(unsqueeze(places, 1), {2, 4});
      method(x, "scatter_reduce_", {0, index, x * 2, "amax"});
    },
    [](Value x, Value places) { set_item(x, places, 7); },
    [](Value x, Value places) {
      const Value all = Value::slice(None, None);
      set_item(x, Value::tuple({all, places}), 7);
    },
};

// Twice the same place, an index that only some calls count from the end, and
// indices that all refuse, by the update or by the step behind it.
TEST(FailingWrites, OfPartsAreAsTheInterpreterLeavesThem) {
  const auto ints = [](std::vector<int64_t> numbers) {
    return Value(Tensor::from(numbers, {2}));
  };
  const auto failed = [](auto run) {
    try {
      run();
    } catch (const Error&) {
      return true;
    }
    return false;
  };
  for (const Update& update : kUpdates) {
    const auto gm = fx::symbolic_trace(
        [update](Value x, Value places, Value at) {
          update(x, places);
          return function("torch.index_select", {x * 3, 0, at});
        },
        {"x", "places", "at"}, "f");
    compile(*gm, quick());
    Value x = random_tensor({3, 4}), known(x.as_tensor().clone());
    for (const auto& [places, at] : {std::pair(ints({1, 2}), ints({0, 2})),
                                     {ints({1, 1}), ints({0, 2})},
                                     {ints({2, 0}), ints({0, 9})},
                                     {ints({2, -1}), ints({0, 1})},
                                     {ints({0, 9}), ints({0, 1})},
                                     {ints({1, 1}), ints({9, 9})}}) {
      EXPECT_EQ(failed([&] { gm->forward(ValueList{x, places, at}); }),
                failed([&] { gm->interpret(ValueList{known, places, at}); }));
      EXPECT_EQ(value_difference(x, known, 1e-6, 1e-6), "");
    }
    EXPECT_TRUE(make_report(*gm).native()) << report(*gm);
    EXPECT_THAT(report(*gm), HasSubstr("in place"));
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
