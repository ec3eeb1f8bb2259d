// NaN and infinities in compiled code: at every CPU level what the interpreter
// gives, wherever they stand.
#include <gtest/gtest.h>

#include <cmath>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using testing::random_tensor;

constexpr float kInfinity = INFINITY;
constexpr float kNan = NAN;

Tensor with(const Tensor& tensor, int64_t place, float number) {
  const Tensor changed = tensor.clone();
  changed.data_as<float>()[place] = number;
  return changed;
}

template <typename Fn>
void expect_as_interpreted(Fn f, const std::vector<ValueList>& inputs,
                           const char* what) {
  std::vector<nn::ArgSpec> names;
  for (size_t i = 0; i < inputs[0].size(); ++i)
    names.emplace_back("x" + std::to_string(i));
  const auto gm = fx::symbolic_trace(f, nn::Signature(names), "f");
  for (CpuLevel level : testing::host_levels()) {
    compile(*gm, testing::options_for(level));
    for (size_t i = 0; i < inputs.size(); ++i) {
      ASSERT_TRUE(prepare(*gm, inputs[i])) << report(*gm);
      EXPECT_EQ(testing::value_difference(gm->forward(inputs[i]),
                                          gm->interpret(inputs[i]), 1e-5, 1e-6),
                "")
          << what << " " << i << " at " << cpu_level_name(level);
    }
  }
}

// Special numbers at the first, a middle and the last row of q, k and v.
std::vector<ValueList> special_attention(int64_t queries, int64_t keys) {
  constexpr int64_t kDepth = 8;
  const ValueList plain{random_tensor({1, 2, queries, kDepth}, DType::f32, 1),
                        random_tensor({1, 2, keys, kDepth}, DType::f32, 2),
                        random_tensor({1, 2, keys, kDepth}, DType::f32, 3)};
  std::vector<ValueList> all{plain};
  for (size_t which = 0; which < 3; ++which) {
    const int64_t rows = which == 0 ? queries : keys;
    for (int64_t row : {int64_t{0}, rows / 2, rows - 1})
      for (float number : {kNan, kInfinity, -kInfinity}) {
        all.push_back(plain);
        all.back()[which] =
            with(plain[which].as_tensor(), row * kDepth + 1, number);
      }
  }
  return all;
}

TEST(SpecialNumbers, CausalAttention) {
  for (int64_t length : {3, 5, 16, 17, 40, 70})
    expect_as_interpreted(
        [](Value q, Value k, Value v) {
          return F::scaled_dot_product_attention(q, k, v, None, 0.0, true);
        },
        special_attention(length, length),
        ("causal " + std::to_string(length)).c_str());
}

TEST(SpecialNumbers, CausalAttentionOfOtherLengths) {
  for (auto [queries, keys] : {std::pair{5, 40}, {40, 5}, {33, 48}, {20, 2100}})
    expect_as_interpreted(
        [](Value q, Value k, Value v) {
          return F::scaled_dot_product_attention(q, k, v, None, 0.0, true);
        },
        special_attention(queries, keys),
        ("causal " + std::to_string(queries) + " " + std::to_string(keys))
            .c_str());
}

TEST(SpecialNumbers, Attention) {
  for (auto [queries, keys] : {std::pair{1, 40}, {3, 9}, {40, 40}, {20, 2100}})
    expect_as_interpreted(
        [](Value q, Value k, Value v) {
          return F::scaled_dot_product_attention(q, k, v);
        },
        special_attention(queries, keys),
        ("attention " + std::to_string(queries)).c_str());
}

// Rows of all lengths around a vector's, special at one place or everywhere.
std::vector<ValueList> special_rows() {
  std::vector<ValueList> all;
  for (int64_t length : {1, 3, 4, 7, 8, 9, 16, 31, 33, 70}) {
    const Tensor plain = random_tensor({3, length}, DType::f32, 1);
    for (float number : {kNan, kInfinity, -kInfinity}) {
      for (int64_t at : {int64_t{0}, length / 2, length - 1})
        all.push_back({with(plain, length + at, number)});
      all.push_back({Tensor::full({3, length}, number)});
    }
    all.push_back({with(with(plain, length, kInfinity), 2 * length - 1, kNan)});
    all.push_back(
        {with(with(plain, length, -kInfinity), 2 * length - 1, kInfinity)});
  }
  return all;
}

TEST(SpecialNumbers, Rows) {
  const std::vector<ValueList> rows = special_rows();
  expect_as_interpreted([](Value x) { return softmax(x, -1); }, rows,
                        "softmax");
  expect_as_interpreted([](Value x) { return log_softmax(x, -1); }, rows,
                        "log_softmax");
  expect_as_interpreted([](Value x) { return logsumexp(x, -1); }, rows,
                        "logsumexp");
  expect_as_interpreted(
      [](Value x) {
        return Value::tuple({amax(x, -1), amin(x, -1), sum(x, -1), prod(x, -1),
                             mean(x, -1), argmax(x, -1), argmin(x, -1)});
      },
      rows, "reductions");
  expect_as_interpreted(
      [](Value x) {
        return Value::tuple({amax(x, 0), amin(x, 0), sum(x, 0), argmax(x, 0)});
      },
      rows, "columns");
}

TEST(SpecialNumbers, Elements) {
  expect_as_interpreted(
      [](Value x) {
        return Value::tuple({relu(x),          sigmoid(x),
                             tanh(x),          exp(x),
                             log(x),           F::gelu(x),
                             F::silu(x),       clamp(x, -1.0, 1.0),
                             maximum(x, 0.5),  minimum(x, 0.5),
                             sign(x),          floor(x),
                             sqrt(x),          x / 0.0,
                             x * 0.0,          pow(x, 2.0),
                             isnan(x),         F::hardtanh(x),
                             F::leaky_relu(x), sin(x)});
      },
      special_rows(), "elements");
}

// Of one number in one block of code: LLVM may merge such calls into sincos,
// which generated code is not linked with.
TEST(SpecialNumbers, SineAndCosineOfRowConstants) {
  expect_as_interpreted(
      [](Value x) {
        const Value turn = sum(x, -1, true);
        return Value::tuple({x * cos(turn) + sin(turn), tan(turn) * x});
      },
      special_rows(), "row constants");
}

}  // namespace TEST_FILE
}  // namespace fxjit
