// Calls that write inputs and buffers natively: caches, counters, views of
// inputs, inputs that share memory, calls that fail half way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <thread>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "fxjit/report.h"
#include "tests/compile/compile_testing.h"
#include "tests/support/sanitizers.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::quick;
using testing::random_tensor;
using testing::value_difference;
using testing::WarningLog;

constexpr int64_t kHeads = 2, kLength = 16, kDepth = 4;

Value position(int64_t at) {
  return Tensor::from(std::vector<int64_t>{at}, {1});
}

Tensor counting(int64_t count) {
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return Tensor::from(numbers, {count});
}

// Three rows of a matrix of rows of four.
Tensor rows(const Tensor& t, int64_t first) {
  return t.as_strided({3, 4}, {4, 1}, first * 4);
}

// What a cache [1, heads, length, depth] holds at a place.
Tensor at_place(const Tensor& cache, int64_t at) {
  return cache.as_strided({kHeads, kDepth}, {kLength * kDepth, 1}, at * kDepth)
      .contiguous();
}

std::vector<float> numbers(const Tensor& t) {
  return {t.data_as<float>(), t.data_as<float>() + t.numel()};
}

void set_item(const Value& x, const Value& index, const Value& value) {
  fx::call_by_name("_operator.setitem", {x, index, value});
}

// One step of attention over a cache that the module holds.
class Decoder : public nn::Custom<Decoder> {
 public:
  using Write = std::function<void(Value cache, Value at, Value row)>;

  explicit Decoder(Write write)
      : Custom("Decoder", {"x", "at"}), write_(std::move(write)) {
    const Dims sizes{1, kHeads, kLength, kDepth};
    keys = register_buffer("keys", Tensor::zeros(sizes));
    values = register_buffer("values", Tensor::zeros(sizes));
    project = register_module("project", nn::Linear::create(8, 24));
  }
  Value forward(Value x, Value at) {
    const Value parts = view(project(x), {1, 3, kHeads, 1, kDepth});
    const Value q = select(parts, 1, 0), k = select(parts, 1, 1),
                v = select(parts, 1, 2);
    write_(Value(keys), at, k);
    write_(Value(values), at, v);
    const Value seen = Value(counting(kLength)) <= at;
    const Value scores =
        where(seen, matmul(q, transpose(Value(keys), 2, 3)) * 0.5, -1e9);
    return matmul(softmax(scores, -1), Value(values));
  }

  nn::Buffer keys, values;
  nn::Ref<nn::Linear> project;

 private:
  Write write_;
};

nn::Ref<fx::GraphModule> traced(const nn::Ref<Decoder>& module) {
  fx::Tracer tracer;
  tracer.proxy_buffer_attributes = true;
  auto graph = tracer.trace(*module);
  return fx::GraphModule::create(*tracer.root, std::move(graph));
}

void expect_same_buffers(const fx::GraphModule& got,
                         const fx::GraphModule& expected) {
  const auto buffers = got.named_buffers(), wanted = expected.named_buffers();
  for (size_t b = 0; b < buffers.size(); ++b)
    EXPECT_EQ(value_difference(buffers[b].second.value(),
                               wanted[b].second.value(), 1e-5, 1e-6),
              "")
        << buffers[b].first;
}

// Ten steps, each beside the interpreter's with a cache of its own.
std::string report_of_ten_steps(Decoder::Write write) {
  const auto gm = traced(Decoder::create(std::move(write)));
  const auto known = gm->deep_copy();
  compile(*gm, quick());
  for (int64_t at = 0; at < 10; ++at) {
    const ValueList inputs{random_tensor({1, 1, 8}, DType::f32, at + 1),
                           position(at)};
    EXPECT_EQ(value_difference(gm->forward(inputs), known->interpret(inputs),
                               1e-5, 1e-5),
              "")
        << at;
    expect_same_buffers(*gm, *known);
  }
  EXPECT_TRUE(make_report(*gm).native()) << report(*gm);
  return report(*gm);
}

TEST(WrittenInputs, CachesAreUpdatedInPlace) {
  const Value all = Value::slice(None, None);
  const auto by_index_put = [](Value cache, Value at, Value row) {
    method(cache, "index_put_", {Value::list({None, None, at}), row});
  };
  const auto by_index_copy = [](Value cache, Value at, Value row) {
    method(cache, "index_copy_", {2, at, row});
  };
  const auto at_the_end = [](Value cache, Value at, Value row) {
    const Value after = function("torch.index_put",
                                 {cache, Value::list({None, None, at}), row});
    method(cache, "copy_", {after});
  };
  const auto by_items = [all](Value cache, Value at, Value row) {
    set_item(cache, Value::tuple({all, all, at}), row);
  };
  const auto by_item = [](Value cache, Value at, Value row) {
    set_item(cache, Value::tuple({Ellipsis, view(at, Value(Dims())), 0}),
             select(select(row, 3, 0), 2, 0));
  };
  const auto by_index_add = [](Value cache, Value at, Value row) {
    method(cache, "index_add_", {2, at, row});
  };
  const auto by_scatter = [](Value cache, Value at, Value row) {
    const Value index = expand(view(at, {1, 1, 1, 1}), {1, kHeads, 1, kDepth});
    method(cache, "scatter_", {2, index, row});
    method(cache, "scatter_add_", {2, index, row});
  };
  for (const Decoder::Write& write :
       {Decoder::Write(by_index_put), Decoder::Write(by_index_copy),
        Decoder::Write(at_the_end), Decoder::Write(by_items),
        Decoder::Write(by_item), Decoder::Write(by_index_add),
        Decoder::Write(by_scatter)}) {
    const std::string report = report_of_ten_steps(write);
    EXPECT_THAT(report, HasSubstr("in place"));
    // No copy of a cache.
    EXPECT_THAT(report, Not(HasSubstr("write back")));
  }
  const auto report = report_of_ten_steps([all](Value cache, Value, Value row) {
    set_item(cache, Value::tuple({all, all, Value::slice(3, 4)}), row);
  });
  EXPECT_THAT(report, HasSubstr("put_view in place"));
  EXPECT_THAT(report, Not(HasSubstr("write back")));
}

// Called several times; what inputs are afterwards is compared, too.
std::string report_beside_interpreter(std::function<Value(Value, Value)> fn,
                                      const ValueList& inputs) {
  const auto gm = fx::symbolic_trace(
      [fn](Value x, Value y) { return fn(x, y); }, {"x", "y"}, "f");
  compile(*gm, quick());
  ValueList given, known;
  for (const Value& input : inputs) {
    given.emplace_back(input.as_tensor().clone());
    known.emplace_back(input.as_tensor().clone());
  }
  for (int call = 0; call < 3; ++call) {
    const Value got = gm->forward(given), expected = gm->interpret(known);
    EXPECT_EQ(value_difference(got, expected, 1e-5, 1e-6), "");
    EXPECT_EQ(value_difference(Value(given), Value(known), 1e-5, 1e-6), "");
  }
  return report(*gm);
}

ValueList two() {
  return {random_tensor({3, 4}), random_tensor({3, 4}, DType::f32, 2)};
}

void expect_native(std::function<Value(Value, Value)> fn) {
  EXPECT_THAT(report_beside_interpreter(std::move(fn), two()),
              Not(HasSubstr("interpreter")));
}

TEST(WrittenInputs, GetTheNumbersOfTheCall) {
  const auto gm = fx::symbolic_trace(
      [](Value x) { return method(x, "add_", {1}) * 2; }, {"x"}, "f");
  compile(*gm, quick());
  const Tensor x = Tensor::from(std::vector<float>{1, 2, 3}, {3});
  const Value twice = gm(Value(x));
  EXPECT_THAT(numbers(x), ::testing::ElementsAre(2, 3, 4));
  EXPECT_THAT(numbers(twice.as_tensor()), ::testing::ElementsAre(4, 6, 8));
  EXPECT_TRUE(make_report(*gm).native());
}

TEST(WrittenInputs, AreSeenThroughTheirViews) {
  expect_native([](Value x, Value y) {
    const Value row = getitem(x, 1), before = row * 2;
    method(row, "add_", {getitem(y, 0)});
    return Value::tuple({before, x * 3, row + 1, row, x});
  });
  expect_native([](Value x, Value y) {
    const Value turned = transpose(x, 0, 1), flat = view(x, {12});
    method(x, "mul_", {y});
    method(getitem(turned, 2), "zero_");
    method(flat, "clamp_", {-0.5, 0.5});
    return Value::tuple({turned * 1, flat, x + y});
  });
  expect_native([](Value x, Value y) {
    set_item(x, Value::tuple({Value::slice(0, 2), 1}), 5);
    set_item(x, 2, getitem(y, 1));
    method(getitem(y, 0), "copy_", {getitem(x, 2)});
    method(y, "fill_", {getitem(getitem(x, 0), 0)});
    return x + y;
  });
}

TEST(WrittenInputs, MayBecomeConstantsAndOtherInputs) {
  expect_native([](Value x, Value y) {
    const Value row = getitem(x, 1);
    set_item(x, Value::slice(None, None), 0.25);
    method(getitem(x, 2), "mul_", {2});
    method(row, "add_", {1});
    return row * y;
  });
  expect_native([](Value x, Value y) {
    const Value row = getitem(x, 1);
    set_item(x, Value::slice(None, None), y);
    return row;
  });
}

TEST(WrittenInputs, LeaveOldValuesToWhoReadThemBefore) {
  expect_native([](Value x, Value y) {
    const Value old = method(x, "clone");
    method(x, "copy_", {y});
    return Value::tuple({old, x, old + y});
  });
  expect_native([](Value x, Value y) {  // Swapped.
    const Value old = method(x, "clone");
    method(x, "copy_", {y});
    method(y, "copy_", {old});
    return None;
  });
  expect_native([](Value x, Value y) {  // The functional value is its own.
    const Value after = function(
        "torch.index_put", {x, Value::list({position(1)}), getitem(y, 0)});
    const Value late = x * 2;
    method(x, "copy_", {after});
    return Value::tuple({after, late, x});
  });
}

// However many buffers the calls before them made.
TEST(WrittenInputs, LeaveResultsOfTheirOwnApart) {
  for (int more = 0; more < 9; ++more) {
    const auto gm = fx::symbolic_trace(
        [&](Value x, Value y) {
          const Value old = method(x, "clone"), a = x + 1;
          ValueList results{a, old, method(a, "clone")};
          for (int i = 0; i < more; ++i) results.push_back(x * (i + 2));
          std::rotate(results.begin(), results.begin() + 3, results.end());
          method(x, "copy_", {y});
          return Value::tuple(std::move(results));
        },
        {"x", "y"}, "f");
    compile(*gm, quick());
    const Value out = gm(random_tensor({4, 4}), random_tensor({4, 4}));
    std::set<const void*> memory;
    for (int i = 0; i < more + 3; ++i)
      memory.insert(out.at(i).as_tensor().data());
    EXPECT_EQ(memory.size(), static_cast<size_t>(more + 3));
  }
}

TEST(WrittenInputs, ThatShareMemoryAreRight) {
  const auto gm = fx::symbolic_trace(
      [](Value x, Value y) {
        method(x, "add_", {y});
        return x * y;
      },
      {"x", "y"}, "f");
  compile(*gm, quick());
  const auto expect_right = [&](auto inputs_of) {
    const Tensor memory = random_tensor({7, 4}), other = memory.clone();
    const ValueList given = inputs_of(memory), known = inputs_of(other);
    EXPECT_EQ(
        value_difference(gm->forward(given), gm->interpret(known), 1e-6, 1e-6),
        "");
    EXPECT_EQ(value_difference(Value(memory), Value(other), 0, 0), "");
  };
  expect_right([](const Tensor& t) {  // Apart.
    return ValueList{rows(t, 0), rows(t, 4)};
  });
  EXPECT_TRUE(make_report(*gm).native());
  expect_right([](const Tensor& t) { return ValueList{t, t}; });
  // As PyTorch, both refuse to write memory that is read under other places.
  const Tensor memory = random_tensor({7, 4});
  const ValueList overlapping{rows(memory, 0), rows(memory, 2)};
  EXPECT_THROW(gm->forward(overlapping), RuntimeError);
  EXPECT_THROW(gm->interpret(overlapping), RuntimeError);
}

TEST(WrittenInputs, OfTwoThreadsApart) {
  const auto gm = fx::symbolic_trace(
      [](Value x, Value y) {
        method(x, "add_", {y});
        set_item(x, 1, y);
        return x * y;
      },
      {"x", "y"}, "f");
  compile(*gm, quick());
  const auto work = [&] {
    const Tensor row = random_tensor({4});
    const Tensor memory = random_tensor({3, 4}), other = memory.clone();
    for (int i = 0; i < 100; ++i) {
      const ValueList given{memory, row}, known{other, row};
      EXPECT_EQ(value_difference(gm->forward(given), gm->interpret(known), 1e-6,
                                 1e-6),
                "");
    }
    EXPECT_EQ(value_difference(Value(memory), Value(other), 1e-6, 1e-6), "");
  };
  std::thread second(work);
  work();
  second.join();
  EXPECT_TRUE(make_report(*gm).native());
}

TEST(WrittenInputs, OfTwoThreadsWithOneCache) {
  if (testing::kThreadSanitizer)
    GTEST_SKIP() << "the calls write one buffer at the same time";
  const auto gm = traced(Decoder::create([](Value cache, Value at, Value row) {
    method(cache, "index_copy_", {2, at, row});
  }));
  compile(*gm, quick());
  const auto work = [&](int64_t first) {
    for (int64_t i = 0; i < 200; ++i)
      gm->forward(
          ValueList{random_tensor({1, 1, 8}), position((first + i) % kLength)});
  };
  std::thread other(work, 8);
  work(0);
  other.join();
  // All calls wrote the same row, to each place.
  const Tensor keys = gm->named_buffers()[0].second.tensor();
  const Tensor first = at_place(keys, 0);
  for (int64_t at = 1; at < kLength; ++at)
    EXPECT_EQ(value_difference(Value(at_place(keys, at)), Value(first), 0, 0),
              "");
}

}  // namespace TEST_FILE
}  // namespace fxjit
