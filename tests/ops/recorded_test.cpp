// Free functions and operators record what torch.fx records: same target, same
// arguments, same keywords (recorded_reference.txt, made by torch.fx).
#include <gtest/gtest.h>

#include <limits>

#include "fxjit/functions.h"
#include "tests/ops/recorder.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;

// clang-format off
#define EXPRESSION(python, ...) \
  {python, [](const Value& x, const Value& y) -> Value { \
     static_cast<void>(x); static_cast<void>(y); return __VA_ARGS__; }}

const testing::Expression kExpressions[] = {
    EXPRESSION("x + 2", x + 2),
    EXPRESSION("2 + x", 2 + x),
    EXPRESSION("x - 2", x - 2),
    EXPRESSION("2 - x", 2 - x),
    EXPRESSION("x * y", x * y),
    EXPRESSION("x / 2.5", x / 2.5),
    EXPRESSION("1 / x", 1 / x),
    EXPRESSION("x % 3", x % 3),
    EXPRESSION("3 % x", 3 % x),
    EXPRESSION("x & 1", x & 1),
    EXPRESSION("1 | x", 1 | x),
    EXPRESSION("x ^ y", x ^ y),
    EXPRESSION("x << 2", x << 2),
    EXPRESSION("2 >> x", 2 >> x),
    EXPRESSION("-x", -x),
    EXPRESSION("+x", +x),
    EXPRESSION("~x", ~x),
    EXPRESSION("x == 1", x == 1),
    EXPRESSION("1 == x", 1 == x),
    EXPRESSION("x != y", x != y),
    EXPRESSION("1 != x", 1 != x),
    EXPRESSION("x < 1", x < 1),
    EXPRESSION("1 < x", 1 < x),
    EXPRESSION("x <= 1", x <= 1),
    EXPRESSION("1 <= x", 1 <= x),
    EXPRESSION("x > 1", x > 1),
    EXPRESSION("1 > x", 1 > x),
    EXPRESSION("x >= 1", x >= 1),
    EXPRESSION("1 >= x", 1 >= x),
    EXPRESSION("x // 2", operators::floordiv(x, 2)),
    EXPRESSION("x ** 2", operators::pow(x, 2)),
    EXPRESSION("x @ y", operators::matmul(x, y)),
    EXPRESSION("abs(x)", operators::abs(x)),
    EXPRESSION("x[0]", getitem(x, 0)),
    EXPRESSION("x[0, 1:, None, ...]",
               getitem(x, 0, Value::slice(1, None), None, Ellipsis)),
    EXPRESSION("torch.add(x, 2)", add(x, 2)),
    EXPRESSION("torch.add(x, 2, alpha=3)", add(x, 2, 3)),
    EXPRESSION("torch.sub(x, y)", sub(x, y)),
    EXPRESSION("torch.mul(x, y)", mul(x, y)),
    EXPRESSION("torch.div(x, 2)", div(x, 2)),
    EXPRESSION("torch.div(x, 2, rounding_mode='floor')", div(x, 2, "floor")),
    EXPRESSION("torch.floor_divide(x, 2)", floor_divide(x, 2)),
    EXPRESSION("torch.remainder(x, 2)", remainder(x, 2)),
    EXPRESSION("torch.pow(x, 2)", pow(x, 2)),
    EXPRESSION("torch.neg(x)", neg(x)),
    EXPRESSION("torch.abs(x)", abs(x)),
    EXPRESSION("torch.clamp(x, 0)", clamp(x, 0)),
    EXPRESSION("torch.clamp(x, 0, 6)", clamp(x, 0, 6)),
    EXPRESSION("torch.clamp_min(x, 0)", clamp_min(x, 0)),
    EXPRESSION("torch.minimum(x, y)", minimum(x, y)),
    EXPRESSION("torch.lerp(x, y, 0.5)", lerp(x, y, 0.5)),
    EXPRESSION("torch.addcmul(x, x, y, value=0.5)", addcmul(x, x, y, 0.5)),
    EXPRESSION("torch.round(x)", round(x)),
    EXPRESSION("torch.exp(x)", exp(x)),
    EXPRESSION("torch.log(x)", log(x)),
    EXPRESSION("torch.erf(x)", erf(x)),
    EXPRESSION("torch.tanh(x)", tanh(x)),
    EXPRESSION("torch.sigmoid(x)", sigmoid(x)),
    EXPRESSION("torch.relu(x)", relu(x)),
    EXPRESSION("torch.prelu(x, y)", prelu(x, y)),
    EXPRESSION("torch.eq(x, 1)", eq(x, 1)),
    EXPRESSION("torch.isnan(x)", isnan(x)),
    EXPRESSION("torch.logical_and(x, y)", logical_and(x, y)),
    EXPRESSION("torch.bitwise_not(x)", bitwise_not(x)),
    EXPRESSION("torch.where(x, y, 0.0)", where(x, y, 0.0)),
    EXPRESSION("torch.masked_fill(x, y, -1.0)", masked_fill(x, y, -1.0)),
    EXPRESSION("torch.full_like(x, 2)", full_like(x, 2)),
    EXPRESSION("torch.zeros_like(x, dtype=torch.float16)",
               zeros_like(x, DType::f16)),
    EXPRESSION("F.relu(x)", F::relu(x)),
    EXPRESSION("F.relu(x, True)", F::relu(x, true)),
    EXPRESSION("F.relu6(x)", F::relu6(x)),
    EXPRESSION("F.elu(x, 0.5)", F::elu(x, 0.5)),
    EXPRESSION("F.selu(x)", F::selu(x)),
    EXPRESSION("F.celu(x, 0.5)", F::celu(x, 0.5)),
    EXPRESSION("F.threshold(x, 0.1, 20)", F::threshold(x, 0.1, 20)),
    EXPRESSION("F.hardshrink(x)", F::hardshrink(x)),
    EXPRESSION("F.softshrink(x, 0.25)", F::softshrink(x, 0.25)),
    EXPRESSION("torch.asinh(x)", asinh(x)),
    EXPRESSION("x.where(y, 0)", method(x, "where", {y, 0})),
    EXPRESSION("F.leaky_relu(x, 0.2)", F::leaky_relu(x, 0.2)),
    EXPRESSION("F.hardtanh(x)", F::hardtanh(x)),
    EXPRESSION("F.hardsigmoid(x)", F::hardsigmoid(x)),
    EXPRESSION("F.hardswish(x)", F::hardswish(x)),
    EXPRESSION("F.mish(x)", F::mish(x)),
    EXPRESSION("F.silu(x)", F::silu(x)),
    EXPRESSION("F.dropout(x, 0.1, False)", F::dropout(x, 0.1, false)),
    EXPRESSION("F.softsign(x)", F::softsign(x)),
    EXPRESSION("F.tanhshrink(x)", F::tanhshrink(x)),
    EXPRESSION("F.gelu(x)", F::gelu(x)),
    EXPRESSION("F.gelu(x, approximate='tanh')", F::gelu(x, "tanh")),
    EXPRESSION("F.softplus(x)", F::softplus(x)),
    EXPRESSION("F.softplus(x, 2.0)", F::softplus(x, 2.0)),
    EXPRESSION("F.logsigmoid(x)", F::logsigmoid(x)),
    EXPRESSION("F.prelu(x, y)", F::prelu(x, y)),
    EXPRESSION("F.sigmoid(x)", F::sigmoid(x)),
    EXPRESSION("F.tanh(x)", F::tanh(x)),
    EXPRESSION("x.clamp(0, 6)", method(x, "clamp", {0, 6})),
    EXPRESSION("x.masked_fill(y, float('-inf'))",
               method(x, "masked_fill",
                      {y, -std::numeric_limits<double>::infinity()})),
    EXPRESSION("x.to(torch.float16)", method(x, "to", {DType::f16})),
    EXPRESSION("x.float()", method(x, "float")),
    EXPRESSION("x.add(1, alpha=2)", method(x, "add", {1}, {{"alpha", 2}})),
};
#undef EXPRESSION
// clang-format on

TEST(Recorded, EqualsTorchFx) {
  testing::expect_recorded("recorded_reference.txt", kExpressions,
                           "recorded_test.cpp");
}

TEST(Recorded, OperatorsNameTheLineThatWroteThem) {
  testing::Recorder recorder;
  const Value x = recorder.proxy("x");
  const int line = __LINE__ + 1;
  const Value y = 1 + x * 2;
  ASSERT_EQ(recorder.calls.size(), 2u);
  EXPECT_EQ(recorder.calls[0].source.line, line);
  EXPECT_EQ(recorder.calls[1].source.line, line);
}

TEST(Recorded, CompoundAssignmentRebinds) {
  testing::Recorder recorder;
  Value x = recorder.proxy("x");
  x -= 1;
  EXPECT_EQ(recorder.calls[0].text, "call_function _operator.sub (x, 1) {}");
  EXPECT_EQ(x.as_proxy()->describe(), "result");
}

}  // namespace TEST_FILE
}  // namespace fxjit
