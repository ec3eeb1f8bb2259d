// A product by codes of a few bits with a scale and a zero point for each block
// of the depth, against sums in double precision.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "fxjit/tensor.h"
#include "src/weights/blocks.h"
#include "src/weights/panels.h"
#include "tests/jit/compiled_tiles.h"

namespace fxjit::jit::testing {

class BlockedProblem {
 public:
  explicit BlockedProblem(int bits)
      : matrix_{{kBlock, bits, false},
                bytes(kDepth, kColumns * bits / 8, 0xff),
                Tensor::empty({kBlocks, kColumns}, DType::f32),
                bytes(kBlocks, kColumns, (1u << bits) - 1),
                kDepth,
                kColumns} {
    std::uniform_real_distribution<float> scale(0.5f, 2.0f);
    for (int64_t i = 0; i < matrix_.scales.numel(); ++i)
      matrix_.scales.data_as<float>()[i] = scale(random_);
  }

  void expect_sums(int64_t rows, CpuLevel level) {
    std::vector<float> lhs(static_cast<size_t>(rows * kDepth));
    std::normal_distribution<float> value;
    for (float& each : lhs) each = value(random_);
    const std::vector<float> got = product(lhs, rows, level);
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t n = 0; n < kColumns; ++n) {
        double sum = 0, size = 0;
        for (int64_t k = 0; k < kDepth; ++k) {
          const double each =
              double{lhs[static_cast<size_t>(m * kDepth + k)]} * at(k, n);
          sum += each, size += std::abs(each);
        }
        ASSERT_NEAR(got[static_cast<size_t>(m * kColumns + n)], sum,
                    1e-6 * size)
            << matrix_.stored.bits << " bits, row " << m << ", column " << n;
      }
  }

 private:
  static constexpr int64_t kDepth = 70, kColumns = 72, kBlock = 32;
  static constexpr int64_t kBlocks = (kDepth + kBlock - 1) / kBlock;

  Tensor bytes(int64_t rows, int64_t columns, uint32_t mask) {
    Tensor made = Tensor::empty({rows, columns}, DType::u8);
    for (int64_t i = 0; i < made.numel(); ++i)
      made.data_as<uint8_t>()[i] =
          static_cast<uint8_t>(random_() >> 8 & mask);
    return made;
  }

  double at(int64_t k, int64_t n) const {
    const int bits = matrix_.stored.bits;
    const int64_t each = 8 / bits;
    const uint8_t byte =
        matrix_.codes.data_as<uint8_t>()[(k * kColumns + n) / each];
    const int code = byte >> (n % each * bits) & ((1 << bits) - 1);
    const int64_t parameter = k / kBlock * kColumns + n;
    return (code - int{matrix_.zeros.data_as<uint8_t>()[parameter]}) *
           double{matrix_.scales.data_as<float>()[parameter]};
  }

  std::vector<float> product(std::vector<float>& lhs, int64_t rows,
                             CpuLevel level) const {
    const weights::BlocksCoding coding =
        weights::find_blocks(matrix_, level != CpuLevel::sse41);
    const int64_t width = weights::register_tile(level).width();
    support::AlignedBlock packed(static_cast<size_t>(
        support::ceil_div(kColumns, width) *
        coding.blocks.panel_bytes(kDepth, width)));
    weights::pack_blocks(matrix_, coding, width, packed.data());
    program::TileStep step;
    step.rows = rows, step.columns = kColumns;
    step.depth = step.lhs_row = kDepth;
    step.weights = weights::Format::blocks, step.blocks = coding.blocks;
    step.outputs = {{DType::f32, 0, kColumns, 1}};
    ScalarBuilder body;
    step.epilogue = body.finish({body.input(0, DType::f32)});
    std::vector<float> out(static_cast<size_t>(rows * kColumns));
    void* const operands[] = {lhs.data(), packed.data(), out.data()};
    CompiledTiles(step, level)(operands);
    return out;
  }

  std::mt19937 random_{3};
  weights::CodeMatrix matrix_;
};

inline void expect_blocked_product(int64_t rows, int bits, CpuLevel level) {
  BlockedProblem(bits).expect_sums(rows, level);
}

}  // namespace fxjit::jit::testing
