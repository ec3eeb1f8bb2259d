// Attention with a row in which every key is masked: NaN from a softmax
// followed by a product, zeros from scaled_dot_product_attention, as in torch.
// And lanes that are masked as they stand behind the end of a row.
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

using testing::random_tensor;

Value written(Value q, Value k, Value v, Value mask) {
  const Value scores = matmul(q, transpose(k, -2, -1)) * 0.3;
  return matmul(softmax(scores + mask, -1), v);
}

Value called(Value q, Value k, Value v, Value mask) {
  return nn::functional::scaled_dot_product_attention(q, k, v, mask);
}

// The first element of the masked row.
template <typename Fn>
float masked_result(Fn attention, int64_t keys) {
  const int64_t queries = 5, row = 2;
  const Tensor mask = Tensor::zeros({queries, keys});
  for (int64_t key = 0; key < keys; ++key)
    mask.data_as<float>()[row * keys + key] = -INFINITY;
  const ValueList inputs{random_tensor({2, 3, queries, 8}, DType::f32, 1),
                         random_tensor({2, 3, keys, 8}, DType::f32, 2),
                         random_tensor({2, 3, keys, 4}, DType::f32, 3), mask};
  const auto gm = fx::symbolic_trace(attention, {"q", "k", "v", "mask"}, "f");
  float result = 0;
  for (CpuLevel level : testing::host_levels()) {
    compile(*gm, testing::options_for(level));
    const Value got = gm->forward(inputs);
    EXPECT_EQ(testing::value_difference(got, gm->interpret(inputs), 1e-5, 1e-6),
              "");
    EXPECT_THAT(report(*gm), ::testing::HasSubstr("generated  attention"));
    result = got.as_tensor().to_floats()[row * 4];
  }
  return result;
}

TEST(MaskedRows, AsTorchHasThem) {
  for (int64_t keys : {7, 300}) {  // All scores at once, and in blocks.
    EXPECT_TRUE(std::isnan(masked_result(written, keys)));
    EXPECT_EQ(masked_result(called, keys), 0.0f);
  }
}

TEST(MaskedLanes, QuotientsBehindTheEndAreNotSummed) {
  const auto gm = fx::symbolic_trace(
      [](Value v, Value w) {
        return Value::tuple({sum(v / w, -1), amax(v / w, -1), sum(v % w, -1)});
      },
      {"v", "w"}, "f");
  for (CpuLevel level : testing::host_levels())
    for (DType dtype : {DType::f32, DType::f64, DType::bf16})
      for (int64_t size = 1; size <= 17; ++size) {
        compile(*gm, testing::options_for(level));
        const Tensor ones = Tensor::full({2, size}, 1);
        const Value got =
            gm->forward(ValueList{(Value(ones) * 6).as_tensor().to(dtype),
                                  (Value(ones) * 4).as_tensor().to(dtype)});
        for (size_t i = 0; i < 3; ++i)
          EXPECT_THAT(got.at(i).as_tensor().to_floats(),
                      ::testing::Each(i == 0   ? 1.5f * size
                                      : i == 1 ? 1.5f
                                               : 2.0f * size))
              << size << " " << dtype_name(dtype);
      }
}

}  // namespace TEST_FILE
}  // namespace fxjit
