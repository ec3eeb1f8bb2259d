// The structured functions record what torch.fx records: same target, same
// arguments, same keywords (structured_recorded_reference.txt, by torch.fx).
#include <gtest/gtest.h>

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
    EXPRESSION("torch.sum(x)", sum(x)),
    EXPRESSION("torch.sum(x, 1)", sum(x, 1)),
    EXPRESSION("torch.sum(x, (0, 1), True)", sum(x, {0, 1}, true)),
    EXPRESSION("torch.sum(x, 1, dtype=torch.float32)",
               sum(x, 1, None, DType::f32)),
    EXPRESSION("torch.mean(x, -1, True)", mean(x, -1, true)),
    EXPRESSION("torch.amax(x, -1, True)", amax(x, -1, true)),
    EXPRESSION("torch.any(x)", any(x)),
    EXPRESSION("torch.max(x)", max(x)),
    EXPRESSION("torch.max(x, 1)", max(x, 1)),
    EXPRESSION("torch.argmax(x, 1)", argmax(x, 1)),
    EXPRESSION("torch.var(x, 1, correction=0, keepdim=True)",
               var(x, 1, 0, true)),
    EXPRESSION("torch.std(x)", std(x)),
    EXPRESSION("torch.logsumexp(x, -1)", logsumexp(x, -1)),
    EXPRESSION("torch.norm(x)", norm(x)),
    EXPRESSION("torch.norm(x, 1, 0)", norm(x, 1, 0)),
    EXPRESSION("torch.linalg.vector_norm(x, 2, 1)",
               linalg_vector_norm(x, 2, 1)),
    EXPRESSION("torch.cumsum(x, 0)", cumsum(x, 0)),
    EXPRESSION("torch.softmax(x, -1)", softmax(x, -1)),
    EXPRESSION("torch.softmax(x, -1, dtype=torch.float32)",
               softmax(x, -1, DType::f32)),
    EXPRESSION("torch.log_softmax(x, 1)", log_softmax(x, 1)),
    EXPRESSION("torch.reshape(x, (2, -1))", reshape(x, {2, -1})),
    EXPRESSION("torch.flatten(x)", flatten(x)),
    EXPRESSION("torch.flatten(x, 1)", flatten(x, 1)),
    EXPRESSION("torch.permute(x, (1, 0))", permute(x, {1, 0})),
    EXPRESSION("torch.transpose(x, 0, 1)", transpose(x, 0, 1)),
    EXPRESSION("torch.squeeze(x, 0)", squeeze(x, 0)),
    EXPRESSION("torch.unsqueeze(x, 0)", unsqueeze(x, 0)),
    EXPRESSION("torch.select(x, 0, 1)", select(x, 0, 1)),
    EXPRESSION("torch.narrow(x, 0, 1, 2)", narrow(x, 0, 1, 2)),
    EXPRESSION("torch.diagonal(x, 1)", diagonal(x, 1)),
    EXPRESSION("torch.movedim(x, 0, 1)", movedim(x, 0, 1)),
    EXPRESSION("torch.split(x, 2)", split(x, 2)),
    EXPRESSION("torch.split(x, [1, 2], 1)", split(x, Value::list({1, 2}), 1)),
    EXPRESSION("torch.chunk(x, 2, -1)", chunk(x, 2, -1)),
    EXPRESSION("torch.unbind(x)", unbind(x)),
    EXPRESSION("torch.cat([x, y])", cat({x, y})),
    EXPRESSION("torch.cat([x, y], 1)", cat({x, y}, 1)),
    EXPRESSION("torch.stack([x, y])", stack({x, y})),
    EXPRESSION("torch.repeat_interleave(x, 2, 1)", repeat_interleave(x, 2, 1)),
    EXPRESSION("torch.flip(x, (0,))", flip(x, {0})),
    EXPRESSION("torch.roll(x, 1, 0)", roll(x, 1, 0)),
    EXPRESSION("torch.tril(x)", tril(x)),
    EXPRESSION("torch.triu(x, 1)", triu(x, 1)),
    EXPRESSION("torch.index_select(x, 0, y)", index_select(x, 0, y)),
    EXPRESSION("torch.gather(x, 1, y)", gather(x, 1, y)),
    EXPRESSION("torch.matmul(x, y)", matmul(x, y)),
    EXPRESSION("torch.mm(x, y)", mm(x, y)),
    EXPRESSION("torch.bmm(x, y)", bmm(x, y)),
    EXPRESSION("torch.addmm(x, x, y)", addmm(x, x, y)),
    EXPRESSION("torch.einsum('ij,jk->ik', x, y)", einsum("ij,jk->ik", {x, y})),
    EXPRESSION("x.view(2, -1)", method(x, "view", {2, -1})),
    EXPRESSION("x.view((2, 3))", view(x, {2, 3})),
    EXPRESSION("x.expand((2, 3))", expand(x, {2, 3})),
    EXPRESSION("x.permute(1, 0)", method(x, "permute", {1, 0})),
    EXPRESSION("x.size(0)", method(x, "size", {0})),
    EXPRESSION("x.softmax(dim=-1)", method(x, "softmax", {}, {{"dim", -1}})),
    EXPRESSION("x.mean(-1, keepdim=True)",
               method(x, "mean", {-1}, {{"keepdim", true}})),
    EXPRESSION("F.softmax(x, -1)", F::softmax(x, -1)),
    EXPRESSION("F.softmax(x, dim=1, dtype=torch.float32)",
               F::softmax(x, 1, DType::f32)),
    EXPRESSION("F.log_softmax(x, 1)", F::log_softmax(x, 1)),
    EXPRESSION("F.layer_norm(x, (4,))", F::layer_norm(x, {4})),
    EXPRESSION("F.layer_norm(x, (4,), x, y, 1e-12)",
               F::layer_norm(x, {4}, x, y, 1e-12)),
    EXPRESSION("F.rms_norm(x, (4,), y)", F::rms_norm(x, {4}, y)),
    EXPRESSION("F.batch_norm(x, x, y)", F::batch_norm(x, x, y)),
    EXPRESSION("F.group_norm(x, 2, x, y)", F::group_norm(x, 2, x, y)),
    EXPRESSION("F.normalize(x)", F::normalize(x)),
    EXPRESSION("F.normalize(x, p=1.0, dim=0)", F::normalize(x, 1.0, 0)),
    EXPRESSION("F.linear(x, y)", F::linear(x, y)),
    EXPRESSION("F.linear(x, y, x)", F::linear(x, y, x)),
    EXPRESSION("F.conv1d(x, y)", F::conv1d(x, y)),
    EXPRESSION("F.conv2d(x, y, x)", F::conv2d(x, y, x)),
    EXPRESSION("F.conv2d(x, y, None, 2, 1)", F::conv2d(x, y, None, 2, 1)),
    EXPRESSION("F.conv_transpose2d(x, y, None, 2)",
               F::conv_transpose2d(x, y, None, 2)),
    EXPRESSION("F.glu(x)", F::glu(x)),
    EXPRESSION("F.glu(x, 1)", F::glu(x, 1)),
    EXPRESSION("F.max_pool1d(x, 2)", F::max_pool1d(x, 2)),
    EXPRESSION("F.max_pool2d(x, 2)", F::max_pool2d(x, 2)),
    EXPRESSION("F.max_pool2d(x, (3, 3), 2, 1)", F::max_pool2d(x, {3, 3}, 2, 1)),
    EXPRESSION("F.avg_pool2d(x, 2)", F::avg_pool2d(x, 2)),
    EXPRESSION("F.avg_pool2d(x, 2, 1, 1)", F::avg_pool2d(x, 2, 1, 1)),
    EXPRESSION("F.adaptive_avg_pool2d(x, (1, 1))",
               F::adaptive_avg_pool2d(x, {1, 1})),
    EXPRESSION("F.adaptive_max_pool2d(x, 2)", F::adaptive_max_pool2d(x, 2)),
    EXPRESSION("F.interpolate(x, scale_factor=2)", F::interpolate(x, None, 2)),
    EXPRESSION("F.embedding(x, y)", F::embedding(x, y)),
    EXPRESSION("F.embedding(x, y, 0)", F::embedding(x, y, 0)),
    EXPRESSION("F.one_hot(x, 5)", F::one_hot(x, 5)),
    EXPRESSION("F.pad(x, (1, 2))", F::pad(x, {1, 2})),
    EXPRESSION("F.pad(x, (1, 2), value=0.5)",
               F::pad(x, {1, 2}, "constant", 0.5)),
    EXPRESSION("F.scaled_dot_product_attention(x, x, y)",
               F::scaled_dot_product_attention(x, x, y)),
    EXPRESSION("F.scaled_dot_product_attention(x, x, y, y)",
               F::scaled_dot_product_attention(x, x, y, y)),
    EXPRESSION("F.scaled_dot_product_attention(x, x, y, scale=0.5)",
               F::scaled_dot_product_attention(x, x, y, None, None, None, 0.5)),
};
#undef EXPRESSION
// clang-format on

TEST(StructuredRecorded, EqualsTorchFx) {
  testing::expect_recorded("structured_recorded_reference.txt", kExpressions,
                           "structured_recorded_test.cpp");
}

}  // namespace TEST_FILE
}  // namespace fxjit
