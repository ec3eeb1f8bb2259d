// Programs of named sizes: calls of many sizes are right whatever came before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <thread>

#include "fxjit/functions.h"
#include "fxjit/fx/symbolic_trace.h"
#include "fxjit/nn.h"
#include "src/compile/compiled_module.h"
#include "src/compile/size_kinds.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using testing::quick;
using testing::random_tensor;

// Small enough for sums that round little.
Tensor small_weight(const Dims& sizes, uint32_t seed) {
  const Tensor t = random_tensor(sizes, DType::f32, seed);
  for (int64_t i = 0; i < t.numel(); ++i) t.data_as<float>()[i] *= 0.1F;
  return t;
}

nn::Ref<fx::GraphModule> encoder() {
  const Tensor table = small_weight({64, 32}, 3);
  const Tensor places = small_weight({128, 32}, 4);
  const Tensor up = small_weight({96, 32}, 5);
  const Tensor down = small_weight({32, 96}, 6);
  return fx::symbolic_trace(
      [&](Value ids) {
        const Value length = method(ids, "size", {1});
        Value x =
            F::embedding(ids, table) + F::embedding(arange(length), places);
        for (int layer = 0; layer < 2; ++layer) {
          const Value heads =
              transpose(unflatten(x, 2, Value::tuple({4, 8})), 1, 2);
          const Value mixed =
              F::scaled_dot_product_attention(heads, heads, heads);
          x = F::layer_norm(x + flatten(transpose(mixed, 1, 2), 2), Dims{32});
          x = x + F::linear(F::gelu(F::linear(x, up)), down);
        }
        const Value mask = method(ne(ids, 0), "to", {DType::f32});
        return sum(x * unsqueeze(mask, -1), Dims{1}) /
               clamp(sum(mask, Dims{1}, true), 1e-9);
      },
      {"ids"}, "encoder");
}

ValueList ids(int64_t batch, int64_t length) {
  const Tensor t = Tensor::empty({batch, length}, DType::i64);
  for (int64_t i = 0; i < t.numel(); ++i)
    t.data_as<int64_t>()[i] = (i * 7 + length) % 64;
  return {t};
}

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

const Pairs& pairs() {
  static const Pairs all{{2, 9},  {3, 17}, {1, 12}, {1, 40}, {4, 8},
                         {8, 32}, {2, 2},  {5, 1},  {7, 64}, {3, 3}};
  return all;
}

// Results by the place of their pair in `order`, of a fresh module.
std::vector<Tensor> results(const std::vector<size_t>& order) {
  const auto gm = encoder();
  compile(*gm, quick());
  std::vector<Tensor> found(pairs().size());
  for (const size_t i : order)
    found[i] =
        gm->forward(ids(pairs()[i].first, pairs()[i].second)).as_tensor();
  return found;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() &&
         std::memcmp(a.data(), b.data(),
                     static_cast<size_t>(a.numel()) * a.item_size()) == 0;
}

TEST(SizeKinds, ResultsDoNotDependOnTheOrderOfCalls) {
  std::vector<size_t> order(pairs().size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const std::vector<Tensor> first = results(order);
  std::reverse(order.begin(), order.end());
  const std::vector<Tensor> second = results(order);
  for (const size_t i : order) {
    const Tensor alone = results({i})[i];
    EXPECT_TRUE(same_bits(first[i], alone)) << i;
    EXPECT_TRUE(same_bits(second[i], alone)) << i;
    const auto gm = encoder();
    const Value expected =
        gm->interpret(ids(pairs()[i].first, pairs()[i].second));
    EXPECT_EQ(testing::value_difference(alone, expected, 1e-5, 1e-5), "");
  }
}

TEST(SizeKinds, ThreadsWithSizesOfTheirOwnGetTheirResults) {
  constexpr int kThreads = 8;
  const auto gm = encoder();
  CompileOptions options = quick();
  options.sizes = {{NamedSize{"batch"}, NamedSize{"length"}}};
  compile(*gm, options);
  std::vector<std::thread> threads;
  std::array<int, kThreads> wrong{};
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      for (int64_t length = 2; length < 34; ++length) {
        const ValueList given = ids(2 + i, length);
        const Tensor result = gm->forward(given).as_tensor();
        wrong[static_cast<size_t>(i)] += static_cast<int>(
            testing::value_difference(result, gm->interpret(given), 1e-5,
                                      1e-5) != "");
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, ::testing::Each(0));
}

// Pairs that begin with others: kinds are made at other sizes.
TEST(SizeKinds, ResultsDoNotDependOnTheFirstCall) {
  std::vector<Tensor> known(pairs().size());
  for (size_t first = 0; first < pairs().size(); ++first) {
    std::vector<size_t> order(pairs().size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = (first + i) % order.size();
    const std::vector<Tensor> found = results(order);
    for (size_t i = 0; i < found.size(); ++i) {
      if (!known[i].defined()) known[i] = found[i];
      EXPECT_TRUE(same_bits(known[i], found[i])) << first << ", " << i;
    }
  }
}

TEST(SizeKinds, AreFew) {
  const auto gm = encoder();
  compile(*gm, quick());
  for (int64_t batch = 2; batch < 8; ++batch)
    for (int64_t length = 20; length < 32; ++length)
      gm->forward(ids(batch, length));
  EXPECT_LE(compiled_module(*gm)->kinds(), 4U);
  EXPECT_GE(compiled_module(*gm)->kinds(), 1U);
}

TEST(SizeKinds, IntegerInputsHaveNames) {
  const auto gm = fx::symbolic_trace(
      [](Value x, Value n) { return reshape(x, Value::list({n, -1})) * 2.0; },
      {"x", "n"}, "reshaped");
  compile(*gm, quick());
  for (int64_t n = 1; n < 9; ++n) {
    const ValueList inputs{random_tensor({n * 3, 2}), n};
    EXPECT_EQ(testing::value_difference(gm->forward(inputs),
                                        gm->interpret(inputs), 0, 0),
              "");
  }
}

TEST(SizeKinds, OtherOrdersOfMemoryAreOtherInputs) {
  const auto gm = fx::symbolic_trace([](Value x) { return F::gelu(x) + 1; },
                                     {"x"}, "orders");
  compile(*gm, quick());
  for (int64_t n = 2; n < 6; ++n) {
    const Tensor rows = random_tensor({n, n + 3});
    const Tensor columns = random_tensor({n + 3, n});
    for (const Tensor& t : {rows, columns.as_strided({n, n + 3}, {1, n}, 0),
                            columns.as_strided({2, n}, {n, 1}, n)}) {
      const Value result = gm->forward(ValueList{t});
      EXPECT_EQ(result.as_tensor().strides(),
                gm->interpret(ValueList{t}).as_tensor().strides());
      EXPECT_EQ(testing::value_difference(result, gm->interpret(ValueList{t}),
                                          1e-6, 1e-6),
                "");
    }
  }
}

TEST(SizeKinds, WrongSizesAreTheirUsersErrors) {
  const auto gm = fx::symbolic_trace([](Value x, Value y) { return x + y; },
                                     {"x", "y"}, "sum");
  compile(*gm, quick());
  for (int64_t n = 2; n < 6; ++n)
    gm->forward(ValueList{random_tensor({n, 4}), random_tensor({n, 4})});
  EXPECT_THROW(
      gm->forward(ValueList{random_tensor({7, 4}), random_tensor({8, 4})}),
      RuntimeError);
  const ValueList fits{random_tensor({9, 4}), random_tensor({1, 4})};
  EXPECT_EQ(
      testing::value_difference(gm->forward(fits), gm->interpret(fits), 0, 0),
      "");
}

// What a call gives, or the text of what it throws.
std::string outcome(const std::function<Value()>& call, Value& result) {
  try {
    result = call();
    return "";
  } catch (const Error& error) {
    return error.message();
  }
}

void expect_as_interpreted(fx::GraphModule& gm, const ValueList& inputs) {
  Value compiled, interpreted;
  const std::string told =
      outcome([&] { return gm.forward(inputs); }, compiled);
  EXPECT_EQ(told, outcome([&] { return gm.interpret(inputs); }, interpreted));
  if (told.empty())
    EXPECT_EQ(testing::value_difference(compiled, interpreted, 0, 0), "");
}

TEST(SizeKinds, OddSizesEndAsTheInterpreterSays) {
  const auto cut = fx::symbolic_trace(
      [](Value x, Value n) { return method(x, "narrow", {0, 0, n}) * 2.0; },
      {"x", "n"}, "cut");
  const auto grown = fx::symbolic_trace(
      [](Value x, Value n) { return method(x, "expand", {n, n, -1}) * 2.0; },
      {"x", "n"}, "grown");
  compile(*cut, quick());
  compile(*grown, quick());
  const Tensor wide = random_tensor({12, 4});
  const Tensor apart = wide.as_strided({6, 4}, {8, 1}, 0);
  for (const Value& n : ValueList{2, 3, 4, 0, 1, -1, 7, INT64_MAX, INT64_MIN})
    for (const Tensor& x : {random_tensor({6, 4}), apart, random_tensor({0, 4}),
                            random_tensor({6, 0})})
      expect_as_interpreted(*cut, {x, n});
  for (const Value& n : ValueList{2, 3, 4, 0, 1, -5, int64_t{1} << 32})
    expect_as_interpreted(*grown, {random_tensor({1, 1, 4}), n});
}

}  // namespace TEST_FILE
}  // namespace fxjit
