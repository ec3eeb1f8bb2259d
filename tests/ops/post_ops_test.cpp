// What post-ops are read from epilogues: of each op as its row writes it, of
// chains, and of bodies that no list of post-ops says.
#include "src/ops/eager/post_ops.h"

#include <gtest/gtest.h>

#include <limits>

#include "fxjit/op.h"
#include "src/ops/eager/body_value.h"

namespace fxjit::ops {
namespace TEST_FILE {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using Work = std::optional<PostOps>;

ScalarBody body_of(const char* name, const ValueList& args,
                   const Kwargs& kwargs = {}) {
  const Op& op = get_op(name);
  return scalar_body({op, ops::bind(op, args, kwargs)});
}

Tensor sums() { return Tensor::meta({2, 8}, DType::f32); }

Work work_of(const char* name, ValueList args) {
  args.insert(args.begin(), sums());
  return post_ops_of(body_of(name, args));
}

TEST(PostOps, OpsAreReadAsTheirRowsWriteThem) {
  EXPECT_EQ(work_of("relu", {}), (PostOps{{PostKind::relu}}));
  EXPECT_EQ(work_of("relu6", {}), (PostOps{{PostKind::clip, 0, 6}}));
  EXPECT_EQ(work_of("hardtanh", {-0.25, 0.5}),
            (PostOps{{PostKind::clip, -0.25f, 0.5f}}));
  EXPECT_EQ(work_of("clamp", {-0.1}),
            (PostOps{{PostKind::clip, -0.1f, kInfinity}}));
  EXPECT_EQ(work_of("clamp", {None, 3}),
            (PostOps{{PostKind::clip, -kInfinity, 3}}));
  EXPECT_EQ(work_of("clamp_max", {3}),
            (PostOps{{PostKind::clip, -kInfinity, 3}}));
  EXPECT_EQ(work_of("hardsigmoid", {}), (PostOps{{PostKind::hardsigmoid}}));
  EXPECT_EQ(work_of("hardswish", {}), (PostOps{{PostKind::hardswish}}));
  EXPECT_EQ(work_of("sigmoid", {}), (PostOps{{PostKind::sigmoid}}));
  EXPECT_EQ(work_of("silu", {}), (PostOps{{PostKind::silu}}));
  EXPECT_EQ(work_of("gelu", {}), (PostOps{{PostKind::gelu}}));
  EXPECT_EQ(work_of("leaky_relu", {0.2}),
            (PostOps{{PostKind::leaky_relu, 0.2f}}));
  EXPECT_EQ(work_of("add", {2}), (PostOps{{PostKind::affine, 1, 2}}));
  EXPECT_EQ(work_of("sub", {0.5}), (PostOps{{PostKind::affine, 1, -0.5f}}));
  EXPECT_EQ(work_of("mul", {0.1}), (PostOps{{PostKind::affine, 0.1f, 0}}));
  EXPECT_EQ(work_of("add", {sums()}), (PostOps{{PostKind::add, 0, 0, 0}}));
  EXPECT_EQ(work_of("mul", {sums()}), (PostOps{{PostKind::multiply, 0, 0, 0}}));
}

// Activations of which each part is a call, as exporters write them.
TEST(PostOps, ActivationsAreReadFromTheirParts) {
  const auto body = [](auto&& write) {
    ScalarBuilder b;
    return post_ops_of(b.finish({write(b, b.input(0, DType::f32))}));
  };
  const auto bounded = [](ScalarBuilder& b, Scalar x) {
    const Scalar above =
        b.apply(Prim::maximum, x + 3.0, b.constant(0, DType::f32));
    return b.apply(Prim::minimum, above, b.constant(6, DType::f32));
  };
  const PostOps hard_gate = {{PostKind::hardswish}};
  EXPECT_EQ(body([&](ScalarBuilder& b, Scalar x) {
              return x * bounded(b, x) / 6.0;
            }),
            hard_gate);
  EXPECT_EQ(body([&](ScalarBuilder& b, Scalar x) {
              return x * (bounded(b, x) / 6.0);
            }),
            hard_gate);
  EXPECT_EQ(body([&](ScalarBuilder& b, Scalar x) { return bounded(b, x) / 6.0; }),
            (PostOps{{PostKind::hardsigmoid}}));
  EXPECT_EQ(body([&](ScalarBuilder& b, Scalar x) {
              return x * b.apply(Prim::sigmoid, x);
            }),
            (PostOps{{PostKind::silu}}));
  EXPECT_FALSE(body([&](ScalarBuilder& b, Scalar x) {
    return x * bounded(b, x) / 7.0;
  }));
  EXPECT_FALSE(body([&](ScalarBuilder& b, Scalar x) {
    return 6.0 / bounded(b, x);
  }));
}

// Slopes for each channel; a zero is no negative number in the second form.
TEST(PostOps, SlopesAreATensor) {
  const auto body = [](bool above, bool product_first) {
    ScalarBuilder b;
    const Scalar x = b.input(0, DType::f32), zero = b.constant(0, DType::f32);
    const Scalar slopes = b.input(1, DType::f32);
    const Prim test = above ? Prim::gt : Prim::lt;
    Scalar chosen, scaled;
    if (product_first) scaled = slopes * x;
    chosen = b.apply(test, x, zero);
    if (!product_first) scaled = x * slopes;
    return post_ops_of(b.finish({above ? b.select(chosen, x, scaled)
                                       : b.select(chosen, scaled, x)}));
  };
  constexpr float kBelowZero = -std::numeric_limits<float>::denorm_min();
  for (const bool product_first : {false, true}) {
    EXPECT_EQ(body(true, product_first),
              (PostOps{{PostKind::prelu, 0, 0, 0}}));
    EXPECT_EQ(body(false, product_first),
              (PostOps{{PostKind::prelu, kBelowZero, 0, 0}}));
  }
}

TEST(PostOps, OtherOpsAreNone) {
  for (const char* name : {"tanh", "exp", "neg", "abs", "mish", "square"})
    EXPECT_FALSE(work_of(name, {})) << name;
  EXPECT_FALSE(work_of("gelu", {"tanh"}));
  EXPECT_FALSE(work_of("rsub", {1}));
  EXPECT_FALSE(work_of("div", {6}));
  EXPECT_FALSE(work_of("sub", {sums()}));
  EXPECT_FALSE(work_of("maximum", {sums()}));
  EXPECT_FALSE(post_ops_of(body_of("add", {sums(), sums()}, {{"alpha", 2}})));
  EXPECT_FALSE(work_of("clamp", {2.0, 1.0}));
  EXPECT_FALSE(work_of("clamp", {kNan}));
  EXPECT_FALSE(work_of("threshold", {0, 0}));
  EXPECT_FALSE(post_ops_of(
      body_of("relu", {Tensor::meta({2, 8}, DType::f64)})));
}

// A clip at -0 keeps its sign, which relu does not.
TEST(PostOps, ReluIsAClipAtPlusZero) {
  EXPECT_EQ(work_of("clamp_min", {0}), (PostOps{{PostKind::relu}}));
  EXPECT_EQ(work_of("clamp_min", {-0.0}),
            (PostOps{{PostKind::clip, -0.0f, kInfinity}}));
}

TEST(PostOps, ChainsAreReadToTheirEnd) {
  ScalarBuilder b;
  const Scalar sum = b.input(0, DType::f32);
  const Scalar zero = b.constant(0, DType::f32);
  const Scalar scaled = b.input(1, DType::f32) * sum + b.input(2, DType::f32);
  const Scalar kept = b.apply(Prim::maximum, scaled * 2.0, zero);
  const ScalarBody body = b.finish({b.apply(Prim::silu, kept + 3.0)});
  EXPECT_EQ(post_ops_of(body), (PostOps{{PostKind::multiply, 0, 0, 0},
                                        {PostKind::add, 0, 0, 1},
                                        {PostKind::affine, 2, 0},
                                        {PostKind::relu},
                                        {PostKind::affine, 1, 3},
                                        {PostKind::silu}}));
}

TEST(PostOps, TheSumAloneIsNoWork) {
  ScalarBuilder b;
  EXPECT_EQ(post_ops_of(b.finish({b.input(0, DType::f32)})), PostOps());
}

// Values that are read a second time, sums that no result depends on, several
// results.
TEST(PostOps, WhatIsNoChainIsNone) {
  ScalarBuilder b;
  const auto sum = [&] { return b.input(0, DType::f32); };
  const auto other = [&] { return b.input(1, DType::f32); };
  EXPECT_FALSE(post_ops_of(b.finish({sum() + sum()})));
  EXPECT_FALSE(post_ops_of(b.finish({(sum() + 1.0) * sum()})));
  EXPECT_FALSE(post_ops_of(b.finish({other() + 1.0})));
  EXPECT_FALSE(post_ops_of(b.finish({other()})));
  EXPECT_FALSE(post_ops_of(b.finish({sum() + (other() + 1.0)})));
  const Scalar first = sum() + 1.0;
  EXPECT_FALSE(post_ops_of(b.finish({first, first * 2.0})));
  EXPECT_FALSE(post_ops_of({}));
}

TEST(PostOps, LoopsOfConvolutionsHaveNoGelu) {
  EXPECT_TRUE(conv_post_ops_of(body_of("silu", {sums()})));
  const ScalarBody gelu = body_of("gelu", {sums()});
  EXPECT_TRUE(post_ops_of(gelu));
  EXPECT_FALSE(conv_post_ops_of(gelu));
  EXPECT_FALSE(conv_post_ops_of(body_of("tanh", {sums()})));
}

TEST(BodyValue, BodiesComeBackEqual) {
  for (const ScalarBody& body :
       {ScalarBody(), body_of("hardswish", {sums()}),
        body_of("clamp", {sums(), -kInfinity, -0.0}),
        body_of("where", {Tensor::meta({8}, DType::boolean), sums(), 2.5}),
        body_of("add",
                {Tensor::meta({8}, DType::i64), (int64_t{1} << 53) + 1})})
    EXPECT_EQ(body_from(to_value(body)), body) << body.str();
}

}  // namespace TEST_FILE
}  // namespace fxjit::ops
