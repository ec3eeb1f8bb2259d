// Elementwise work on channels: every function over its whole range in double
// precision, NaN, infinities, and every number of channels.
#include <gtest/gtest.h>

#include <limits>

#include "kernels/convolution/post_work.h"
#include "tests/kernels/kernel_test_util.h"
#include "tests/kernels/post_oracle.h"

namespace fxjit::kernels::testing {
namespace TEST_FILE {

using ops::PostKind;
using ops::PostOp;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> sweep() {
  std::vector<float> all = {0,      -0.0f,   kNan,  kInfinity, -kInfinity,
                            1e30f,  -1e30f,  88,    -88,       -87.5f,
                            -88.5f, 3,       -3,    6,         -104,
                            1e-40f, -1e-40f, 1e38f, -1e38f};
  for (int i = -120000; i <= 120000; ++i)
    all.push_back(static_cast<float>(i) * 1e-3f);
  for (int i = -100; i < 30; ++i)
    for (float sign : {-1.0f, 1.0f}) all.push_back(sign * std::ldexp(1.1f, i));
  return all;
}

float ulp_of(double x) {
  const auto f = static_cast<float>(std::abs(x));
  return std::nextafter(f, kInfinity) - f;
}

// Below `tiny` an error of `tiny` is allowed.
void expect_ulps(const PostOp& op, CpuLevel level, double bound, double tiny) {
  const std::vector<float> in = sweep();
  std::vector<float> out = in;
  PostWork work;
  work.ops = &op;
  work.count = 1;
  run_post_work(work, out.data(), 1, static_cast<int64_t>(out.size()), level);
  for (size_t i = 0; i < in.size(); ++i) {
    const double wanted = post_oracle(op, in[i], 0);
    if (std::isnan(wanted) || std::isinf(wanted)) {
      EXPECT_EQ(std::isnan(wanted), std::isnan(out[i])) << in[i];
      if (!std::isnan(wanted)) EXPECT_EQ(wanted, out[i]) << in[i];
      continue;
    }
    const double error = std::abs(out[i] - wanted);
    const double allowed =
        std::abs(wanted) < tiny ? tiny : bound * ulp_of(wanted);
    ASSERT_LE(error, allowed)
        << "of " << in[i] << ": " << out[i] << ", wanted " << wanted;
  }
}

TEST(PostWork, FunctionsAreWithinTheirBounds) {
  for (CpuLevel level : host_levels()) {
    SCOPED_TRACE(cpu_level_name(level));
    expect_ulps({PostKind::relu}, level, 0, 0);
    expect_ulps({PostKind::leaky_relu, 0.1f}, level, 1, 1e-44);
    expect_ulps({PostKind::clip, 0, 6}, level, 0, 0);
    expect_ulps({PostKind::clip, -kInfinity, 2}, level, 0, 0);
    expect_ulps({PostKind::sigmoid}, level, 4, 1.2e-38);
    expect_ulps({PostKind::silu}, level, 4, 1e-36);
  }
}

// x + 3 is rounded, as PyTorch rounds it: near -3 only the absolute error is
// small. Nor does the product of x and 6 fit a float always.
TEST(PostWork, HardFunctionsAreWithinTheirBounds) {
  for (CpuLevel level : host_levels())
    for (PostKind kind : {PostKind::hardsigmoid, PostKind::hardswish}) {
      const PostOp op{kind};
      std::vector<float> in = sweep(), out = in;
      PostWork work;
      work.ops = &op;
      work.count = 1;
      run_post_work(work, out.data(), 1, static_cast<int64_t>(out.size()),
                    level);
      for (size_t i = 0; i < in.size(); ++i) {
        if (std::isfinite(in[i]) && std::abs(in[i]) > 5e37f) continue;
        const double wanted = post_oracle(op, in[i], 0);
        if (!std::isfinite(wanted)) {
          EXPECT_TRUE(std::isnan(wanted) ? std::isnan(out[i])
                                         : out[i] == wanted)
              << in[i];
          continue;
        }
        EXPECT_NEAR(out[i], wanted, std::max(3e-7, 2.5e-7 * std::abs(wanted)))
            << in[i];
      }
    }
}

class PostWorkChannels : public ::testing::TestWithParam<CpuLevel> {};

TEST_P(PostWorkChannels, AnyNumber) {
  for (int64_t channels = 1; channels < 150;
       channels += channels < 40 ? 1 : 17) {
    const Dims sizes{3, channels};
    const Tensor values = random_tensor(sizes, DType::f32, 1),
                 whole = random_tensor(sizes, DType::f32, 2),
                 each = random_tensor({channels}, DType::f32, 3);
    const ops::PostOps ops = {{PostKind::add, 0, 0, 0},
                              {PostKind::multiply, 0, 0, 1},
                              {PostKind::affine, 0.5f, 2},
                              {PostKind::prelu, 0, 0, 1},
                              {PostKind::silu}};
    std::vector<double> expected = doubles(values);
    post_oracle(ops, {whole, each}, channels, expected);
    PostWork work;
    work.ops = ops.data();
    work.count = static_cast<int64_t>(ops.size());
    work.extras[0] = whole.data_as<float>();
    work.steps[0] = channels;
    work.extras[1] = each.data_as<float>();
    run_post_work(work, values.data_as<float>(), 3, channels, GetParam());
    EXPECT_LT(relative_error(values, expected), 1e-6) << channels;
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, PostWorkChannels,
                         ::testing::ValuesIn(host_levels()),
                         [](const auto& info) {
                           return std::string(cpu_level_name(info.param));
                         });

}  // namespace TEST_FILE
}  // namespace fxjit::kernels::testing
