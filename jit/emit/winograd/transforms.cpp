#include "jit/emit/winograd/transforms.h"

#include <array>
#include <cmath>

#include "fxjit/error.h"

namespace fxjit::jit {
namespace {

constexpr double kHalfRoot = 0.70710678118654752440;  // sqrt(1/2)
constexpr double kRoot = 1.41421356237309504880;      // sqrt(2)

// Values by number, made on demand and at most once.
class OnDemand {
 public:
  explicit OnDemand(llvm::function_ref<Value*(int)> make) : make_(make) {}

  Value* operator()(int i) {
    Value*& value = values_[static_cast<size_t>(i)];
    if (!value) value = make_(i);
    return value;
  }

 private:
  llvm::function_ref<Value*(int)> make_;
  std::array<Value*, 6> values_{};
};

// F(4): rows 1 and 2 are p + a q and p - a q, rows 3 and 4 the same of other
// points.
Value* input_row_of_4(VectorBuilder& b, int row, OnDemand& d) {
  const auto scaled = [&](double factor, Value* x, Value* plus) {
    return b.fma(x, b.splat_f32(factor), plus);
  };
  const auto pair = [&](double square, double point) {
    Value* even = scaled(-square, d(2), d(4));
    Value* odd = scaled(-square, d(1), d(3));
    return scaled(point, odd, even);
  };
  switch (row) {
    case 0:
      return scaled(-2.5, d(2), b.add(d(0), d(4)));
    case 1:
      return pair(2, kHalfRoot);
    case 2:
      return pair(2, -kHalfRoot);
    case 3:
      return pair(.5, kRoot);
    case 4:
      return pair(.5, -kRoot);
    default:
      return scaled(-2.5, d(3), b.add(d(1), d(5)));
  }
}

Value* input_row_of_2(VectorBuilder& b, int row, OnDemand& d) {
  switch (row) {
    case 0:
      return b.sub(d(0), d(2));
    case 1:
      return b.add(d(1), d(2));
    case 2:
      return b.sub(d(2), d(1));
    default:
      return b.sub(d(1), d(3));
  }
}

Value* output_row_of_4(VectorBuilder& b, int row, OnDemand& m) {
  const auto scaled = [&](double factor, Value* x, Value* plus) {
    return b.fma(x, b.splat_f32(factor), plus);
  };
  const auto times = [&](double factor, Value* x) {
    return b.mul(x, b.splat_f32(factor));
  };
  Value* inner = row % 2 ? b.sub(m(1), m(2)) : b.add(m(1), m(2));
  Value* outer = row % 2 ? b.sub(m(3), m(4)) : b.add(m(3), m(4));
  switch (row) {
    case 0:
      return b.add(b.add(m(0), inner), outer);
    case 1:
      return scaled(kHalfRoot, inner, times(kRoot, outer));
    case 2:
      return scaled(.5, inner, times(2, outer));
    default:
      return scaled(2 * kRoot, outer, scaled(.5 * kHalfRoot, inner, m(5)));
  }
}

Value* output_row_of_2(VectorBuilder& b, int row, OnDemand& m) {
  if (row == 0) return b.add(m(0), b.add(m(1), m(2)));
  return b.sub(b.sub(m(1), m(2)), m(3));
}

using Groups = std::vector<std::vector<int>>;

}  // namespace

Groups winograd_input_groups(int64_t tile, CpuLevel level) {
  const bool many = level == CpuLevel::avx512;
  if (tile == 4)
    return many ? Groups{{0, 1, 2}, {3, 4, 5}} : Groups{{1, 2}, {3, 4}, {0, 5}};
  return many ? Groups{{0, 1, 2, 3}} : Groups{{0, 3}, {1, 2}};
}

Groups winograd_output_groups(int64_t tile, CpuLevel level) {
  const bool many = level == CpuLevel::avx512;
  if (tile == 4) return many ? Groups{{0, 1, 2, 3}} : Groups{{0, 2}, {1, 3}};
  return {{0, 1}};
}

Values winograd_input(VectorBuilder& b, int64_t tile,
                      const std::vector<int>& rows,
                      llvm::function_ref<Value*(int)> input) {
  OnDemand inputs(input);
  Values results;
  for (int row : rows)
    results.push_back(tile == 4 ? input_row_of_4(b, row, inputs)
                                : input_row_of_2(b, row, inputs));
  return results;
}

Values winograd_output(VectorBuilder& b, int64_t tile,
                       const std::vector<int>& rows,
                       llvm::function_ref<Value*(int)> sum) {
  OnDemand sums(sum);
  Values results;
  for (int row : rows)
    results.push_back(tile == 4 ? output_row_of_4(b, row, sums)
                                : output_row_of_2(b, row, sums));
  return results;
}

}  // namespace fxjit::jit
