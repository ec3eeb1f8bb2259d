// A weight in the format that is found for it, and products of few rows by it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "src/support/rounding.h"
#include "src/weights/format.h"
#include "tests/jit/compiled_tiles.h"
#include "tests/jit/jit_test_util.h"
#include "tests/support/guarded_bytes.h"

namespace fxjit::jit::testing {

// Those that the level can read.
inline std::vector<weights::Format> formats(CpuLevel level, bool may_round) {
  std::vector<weights::Format> found;
  for (const weights::Format format : weights::kNarrowFormats)
    if (weights::most_rows(format, level) > 0 &&
        (may_round || !weights::rounds(format)))
      found.push_back(format);
  return found;
}

inline std::vector<float> normals(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> value(0, 0.1f);
  std::vector<float> values(count);
  for (float& v : values) v = value(random);
  return values;
}

// A [depth, columns] weight in the format found for it.
class PackedWeight {
 public:
  PackedWeight(std::vector<float> values, int64_t depth, CpuLevel level,
               bool may_round = false)
      : values_(std::move(values)),
        depth_(depth),
        columns_(static_cast<int64_t>(values_.size()) / depth),
        level_(level),
        coding_(weights::find_coding({&source_, 1}, depth,
                                     formats(level, may_round))) {
    const int64_t width = weights::register_tile(level).width();
    const int64_t bytes =
        weights::packed_bytes(coding_.format, depth, columns_, width);
    packed_.emplace(static_cast<size_t>(support::round_up(bytes, int64_t{64})));
    weights::pack_matrix({&source_, 1}, depth, width, coding_, packed_->data());
  }
  PackedWeight(const PackedWeight&) = delete;
  PackedWeight& operator=(const PackedWeight&) = delete;

  weights::Format format() const { return coding_.format; }
  int64_t columns() const { return columns_; }
  // Packed weights have zeros for numbers below the smallest normal one.
  float at(int64_t k, int64_t n) const {
    return weights::normal_or_zero(
        values_[static_cast<size_t>(k * columns_ + n)]);
  }

  std::vector<float> product(const std::vector<float>& lhs) const {
    const auto rows = static_cast<int64_t>(lhs.size()) / depth_;
    auto& code = code_[rows];
    if (!code) code = std::make_unique<CompiledTiles>(step(rows), level_);
    const support::GuardedBytes left(std::as_bytes(std::span(lhs)));
    const support::GuardedBytes out(static_cast<size_t>(rows * columns_) *
                                    sizeof(float));
    void* operands[] = {left.data(), packed_->data(), out.data()};
    (*code)(operands);
    const auto* first = reinterpret_cast<const float*>(out.data());
    return {first, first + rows * columns_};
  }

  // Every row of the weight by itself.
  void expect_kept() const {
    std::vector<float> lhs(static_cast<size_t>(kRows * depth_));
    for (int64_t first = 0; first < depth_; first += kRows) {
      std::fill(lhs.begin(), lhs.end(), 0.0f);
      for (int64_t r = 0; r < kRows && first + r < depth_; ++r)
        lhs[static_cast<size_t>(r * depth_ + first + r)] = 1;
      const std::vector<float> out = product(lhs);
      for (int64_t r = 0; r < kRows && first + r < depth_; ++r)
        for (int64_t n = 0; n < columns_; ++n)
          ASSERT_EQ(out[static_cast<size_t>(r * columns_ + n)],
                    at(first + r, n))
              << first + r << " " << n;
    }
  }

  void expect_double_sums(int64_t rows) const {
    const std::vector<float> lhs =
        normals(static_cast<size_t>(rows * depth_), 7);
    const std::vector<float> out = product(lhs);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t n = 0; n < columns_; ++n) {
        double want = 0, size = 0;
        for (int64_t k = 0; k < depth_; ++k) {
          const double term =
              double{lhs[static_cast<size_t>(r * depth_ + k)]} * at(k, n);
          want += term;
          size += std::abs(term);
        }
        ASSERT_NEAR(out[static_cast<size_t>(r * columns_ + n)], want,
                    size * (static_cast<double>(depth_) + 4) * 6e-8 + 0x1p-149)
            << r << " " << n;
      }
  }

 private:
  static constexpr int64_t kRows = 6;

  program::TileStep step(int64_t rows) const {
    program::TileStep step;
    step.rows = rows;
    step.columns = columns_;
    step.depth = step.lhs_row = depth_;
    step.weights = coding_.format;
    step.outputs = {{DType::f32, 0, columns_, 1}};
    ScalarBuilder body;
    step.epilogue = body.finish({body.input(0, DType::f32)});
    return step;
  }

  std::vector<float> values_;
  int64_t depth_, columns_;
  CpuLevel level_;
  weights::PackSource source_{values_.data(), columns_, 1, columns_};
  weights::Coding coding_;
  std::optional<support::GuardedBytes> packed_;
  mutable std::map<int64_t, std::unique_ptr<CompiledTiles>> code_;  // By rows.
};

}  // namespace fxjit::jit::testing
