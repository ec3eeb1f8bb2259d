// Bodies as values of arguments.
#include "src/ops/eager/body_value.h"

#include <gtest/gtest.h>

#include <limits>

#include "fxjit/op.h"

namespace fxjit::ops {
namespace TEST_FILE {

ScalarBody body_of(const char* name, const ValueList& args) {
  const Op& op = get_op(name);
  return scalar_body({op, ops::bind(op, args, {})});
}

TEST(BodyValue, BodiesComeBackEqual) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Tensor sums = Tensor::meta({2, 8}, DType::f32);
  for (const ScalarBody& body :
       {ScalarBody(), body_of("hardswish", {sums}),
        body_of("clamp", {sums, -kInfinity, -0.0}),
        body_of("where", {Tensor::meta({8}, DType::boolean), sums, 2.5}),
        body_of("add",
                {Tensor::meta({8}, DType::i64), (int64_t{1} << 53) + 1})})
    EXPECT_EQ(body_from(to_value(body)), body) << body.str();
}

}  // namespace TEST_FILE
}  // namespace fxjit::ops
