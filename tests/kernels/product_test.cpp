// Product steps of half types, and oneDNN in place of generated tile loops.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/kernels.h"
#include "kernels/onednn/product_call.h"
#include "src/ops/table/layouts.h"
#include "src/weights/panels.h"
#include "tests/kernels/kernel_test_util.h"

namespace fxjit::kernels::testing {
namespace TEST_FILE {

std::shared_ptr<const program::ExternCode> kernel_for(
    const char* op, const ValueList& args,
    const std::vector<Tensor>& constants) {
  const ops::Op& row = ops::get_op(op);
  const ValueList bound = bound_args(op, args);
  return make_call_code(
      {row, bound, constants, {ops::infer_plain({row, bound})}}, kSliceThreads);
}

bool has_fast_half_products(DType dtype) {
  const Tensor m = random_tensor({64, 64}, dtype);
  return kernel_for("mm", {m, m}, {Tensor(), Tensor()}) != nullptr;
}

class HalfProduct : public ::testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    if (!has_fast_half_products(GetParam()))
      GTEST_SKIP() << "oneDNN has no fast product of this type here";
  }

  Tensor random(const Dims& sizes, unsigned seed) {
    return random_tensor(sizes, GetParam(), seed);
  }

  void expect(const char* op, const ValueList& args,
              const std::vector<Tensor>& tensors,
              const std::vector<Tensor>& constants, const Tensor& result,
              const std::vector<double>& expected) {
    const auto kernel = kernel_for(op, args, constants);
    ASSERT_TRUE(kernel) << op;
    EXPECT_TRUE(kernel->native());
    std::vector<Tensor> operands = tensors;
    operands.push_back(result);
    EXPECT_EQ(run_kernel(*kernel, operands), program::kOk);
    EXPECT_LT(relative_error(result, expected), 5e-3) << kernel->describe();
  }
};

TEST_P(HalfProduct, LinearWithConstantAndOtherWeights) {
  const Tensor x = random({3, 40, 96}, 1), w = random({1000, 96}, 2),
               bias = random({1000}, 3);
  const Tensor w_columns = w.as_strided({1, 96, 1000}, {0, 1, 96}, 0);
  const Tensor rows = x.as_strided({1, 120, 96}, {0, 96, 1}, 0);
  const auto expected = product_oracle(rows, w_columns, bias);
  const auto unbiased = product_oracle(rows, w_columns, Tensor());
  for (const Tensor& constant : {w, Tensor()}) {
    const Tensor out = Tensor::empty({3, 40, 1000}, GetParam());
    expect("linear", {x, w, bias}, {x, w, bias}, {Tensor(), constant, Tensor()},
           out, expected);
    expect("linear", {x, w}, {x, w}, {Tensor(), constant}, out, unbiased);
  }
}

TEST_P(HalfProduct, BatchesAndAddmm) {
  const Tensor a = random({6, 50, 64}, 1), b = random({6, 64, 70}, 2);
  const Tensor out = Tensor::empty({6, 50, 70}, GetParam());
  const auto expected = product_oracle(a, b, Tensor());
  expect("bmm", {a, b}, {a, b}, {Tensor(), Tensor()}, out, expected);
  const Tensor turned = transposed_copy(b);
  expect("matmul", {a, turned}, {a, turned}, {Tensor(), Tensor()}, out,
         expected);
  const Tensor m = random({50, 64}, 3), n = random({64, 70}, 4),
               bias = random({70}, 5);
  expect("addmm", {bias, m, n}, {bias, m, n}, {Tensor(), Tensor(), n},
         Tensor::empty({50, 70}, GetParam()),
         product_oracle(m.as_strided({1, 50, 64}, {0, 64, 1}, 0),
                        n.as_strided({1, 64, 70}, {0, 70, 1}, 0), bias));
}

TEST_P(HalfProduct, OtherCallsAreRefused) {
  const Tensor m = random({50, 64}, 3), n = random({64, 70}, 4),
               bias = random({50, 70}, 5), v = random({64}, 6);
  EXPECT_FALSE(kernel_for("addmm", {bias, m, n}, std::vector<Tensor>(3)));
  EXPECT_FALSE(kernel_for("mv", {m, v}, std::vector<Tensor>(2)));
  const Tensor f = random_tensor({64, 64});
  EXPECT_FALSE(kernel_for("mm", {f, f}, std::vector<Tensor>(2)));
}

INSTANTIATE_TEST_SUITE_P(Types, HalfProduct,
                         ::testing::Values(DType::bf16, DType::f16),
                         [](const auto& info) {
                           return std::string(dtype_name(info.param));
                         });

// --- Tile steps. ---

struct TileProblem {
  program::TileStep step;
  std::vector<Tensor> operands;
  std::vector<double> expected;

  TileProblem(int64_t rows, int64_t depth, int64_t columns) {
    step.rows = rows, step.columns = columns, step.depth = depth;
    step.lhs_row = depth;
    const Tensor a = random_tensor({1, rows, depth}, DType::f32, 1);
    const Tensor b = random_tensor({1, depth, columns}, DType::f32, 2);
    const Tensor packed =
        Tensor::empty({weights::packed_elements(depth, columns, 64)});
    const weights::PackSource source{b.data_as<float>(), columns, 1, columns};
    weights::pack_panels({&source, 1}, depth, 64, packed.data_as<float>());
    operands = {a, packed};
    expected = product_oracle(a, b, Tensor());
    sum = builder.input(0, DType::f32);
  }

  void add(bool whole) {
    const Tensor extra =
        random_tensor({whole ? step.rows : 1, step.columns}, DType::f32,
                      static_cast<unsigned>(3 + operands.size()));
    step.extras.push_back({DType::f32, 0, whole ? step.columns : 0, 1});
    const auto slot = static_cast<int>(step.extras.size());
    sum = builder.input(slot, DType::f32) + sum;
    operands.push_back(extra);
    const auto values = doubles(extra);
    for (size_t i = 0; i < expected.size(); ++i)
      expected[i] += values[i % values.size()];
  }

  void gelu() {
    sum = builder.apply(Prim::gelu, sum);
    for (double& x : expected) x *= 0.5 * std::erfc(-x / std::sqrt(2.0));
  }

  void finish() {
    step.outputs = {{DType::f32, 0, step.columns, 1}};
    step.epilogue = builder.finish({sum});
    operands.push_back(Tensor::full({step.rows, step.columns}, 99));
  }

  ScalarBuilder builder;
  Scalar sum;
};

// The kinds of post-ops of a product with this epilogue; "-": none is read.
template <typename Finish>
std::string post_ops_of(Finish finish) {
  TileProblem problem(16, 64, 64);
  finish(problem);
  problem.finish();
  const auto product = onednn::read_product(problem.step);
  if (!product) return "-";
  std::string text = product->bias < 0 ? "" : "bias";
  for (const onednn::MatmulPostOp& op : product->post_ops)
    text += op.kind == onednn::MatmulPostOp::Kind::gelu ? " gelu" : " add";
  return text;
}

TEST(PostOpsOfProducts, AreAdditionsAndGelu) {
  EXPECT_EQ(post_ops_of([](TileProblem&) {}), "");
  EXPECT_EQ(post_ops_of([](TileProblem& p) {
              p.add(false);
              p.gelu();
              p.add(true);
              p.add(false);
            }),
            "bias gelu add add");
  EXPECT_EQ(post_ops_of([](TileProblem& p) {
              p.add(false);
              p.sum = p.builder.apply(Prim::tanh, p.sum);
            }),
            "-");
  EXPECT_EQ(post_ops_of([](TileProblem& p) { p.sum = p.sum + p.sum; }), "-");
  EXPECT_EQ(post_ops_of([](TileProblem& p) {
              p.sum = p.builder.constant(1, DType::f32) + p.sum;
            }),
            "-");
  // No chain.
  EXPECT_EQ(post_ops_of([](TileProblem& p) {
              const Scalar sums = p.sum;
              p.add(false);
              p.sum = p.builder.apply(Prim::gelu, sums) + p.sum;
            }),
            "-");
}

class ProductOfPanels : public ::testing::Test {
 protected:
  void SetUp() override {
    if (host_cpu_level() != CpuLevel::avx512)
      GTEST_SKIP() << "the panels are oneDNN's on AVX-512 only";
  }

  void expect(TileProblem& problem) {
    problem.finish();
    const auto kernel =
        make_library_product(problem.step, CpuLevel::avx512, kSliceThreads);
    ASSERT_TRUE(kernel);
    EXPECT_EQ(run_kernel(*kernel, problem.operands), program::kOk);
    EXPECT_LT(relative_error(problem.operands.back(), problem.expected), 2e-6)
        << kernel->describe();
  }
};

TEST_F(ProductOfPanels, ReadsThePackedPanels) {
  const int64_t shapes[][3] = {{16, 384, 384}, {128, 64, 1000}, {1, 256, 256},
                               {37, 100, 70},  {300, 33, 65},   {5, 7, 3}};
  for (const auto& [rows, depth, columns] : shapes) {
    TileProblem problem(rows, depth, columns);
    expect(problem);
  }
}

TEST_F(ProductOfPanels, EpiloguesOfBiasGeluAndResidual) {
  for (int kind = 0; kind < 4; ++kind) {
    TileProblem problem(96, 128, 320);
    if (kind != 3) problem.add(false);
    if (kind == 1) problem.gelu();
    if (kind >= 2) problem.add(true);
    if (kind == 3) problem.add(false);
    SCOPED_TRACE(kind);
    expect(problem);
  }
}

TEST_F(ProductOfPanels, FewRowsAreCutByColumns) {
  for (bool residual : {false, true}) {
    TileProblem problem(9, 384, 1500);
    problem.add(false);
    problem.gelu();
    if (residual) problem.add(true);
    SCOPED_TRACE(residual);
    expect(problem);
  }
}

TEST_F(ProductOfPanels, OtherEpiloguesAreRefused) {
  TileProblem problem(16, 64, 64);
  problem.sum = problem.builder.apply(Prim::tanh, problem.sum);
  problem.finish();
  EXPECT_FALSE(
      make_library_product(problem.step, CpuLevel::avx512, kSliceThreads));
  TileProblem strict(16, 64, 64);
  strict.finish();
  EXPECT_FALSE(
      make_library_product(strict.step, CpuLevel::avx2, kSliceThreads));
  strict.step.strict = true;
  EXPECT_FALSE(
      make_library_product(strict.step, CpuLevel::avx512, kSliceThreads));
}

}  // namespace TEST_FILE
}  // namespace fxjit::kernels::testing
