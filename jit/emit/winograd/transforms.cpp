#include "jit/emit/winograd/transforms.h"

#include <array>
#include <numeric>

namespace fxjit::jit {
namespace {

constexpr double kHalfRoot = 0.70710678118654752440;  // sqrt(1/2)
constexpr double kRoot = 1.41421356237309504880;      // sqrt(2)

// Values by number. Each is made when it is first asked for.
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

// The groups of rows of the transformed input that are made together: as many
// rows as the registers of the level hold for all columns. Rows that share work
// are in one group.
Groups input_groups(int64_t tile, CpuLevel level) {
  const bool many = level == CpuLevel::avx512;
  if (tile == 4)
    return many ? Groups{{0, 1, 2}, {3, 4, 5}} : Groups{{1, 2}, {3, 4}, {0, 5}};
  return many ? Groups{{0, 1, 2, 3}} : Groups{{0, 3}, {1, 2}};
}

// The same for rows of the result.
Groups output_groups(int64_t tile, CpuLevel level) {
  const bool many = level == CpuLevel::avx512;
  if (tile == 4) return many ? Groups{{0, 1, 2, 3}} : Groups{{0, 2}, {1, 3}};
  return {{0, 1}};
}

using MakeRow = Value* (*)(VectorBuilder& b, int row, OnDemand& inputs);

// Elements `rows` of a transform of one dim. Loads what is needed only.
Values transformed(VectorBuilder& b, MakeRow make, const std::vector<int>& rows,
                   llvm::function_ref<Value*(int)> input) {
  OnDemand inputs(input);
  Values results;
  for (int row : rows) results.push_back(make(b, row, inputs));
  return results;
}

// Makes each group of `groups`: first along the columns of `points` inputs,
// then along its rows, `wanted` results each.
void transform(VectorBuilder& b, MakeRow make, const Groups& groups, int points,
               int wanted, llvm::function_ref<Value*(int, int)> load,
               llvm::function_ref<void(int, int, Value*)> store) {
  std::vector<int> all(static_cast<size_t>(wanted));
  std::iota(all.begin(), all.end(), 0);
  for (const std::vector<int>& rows : groups) {
    std::vector<Values> columns;
    for (int column = 0; column < points; ++column)
      columns.push_back(transformed(
          b, make, rows, [&](int row) { return load(row, column); }));
    for (size_t r = 0; r < rows.size(); ++r) {
      const Values results = transformed(b, make, all, [&](int column) {
        return columns[static_cast<size_t>(column)][r];
      });
      for (int column : all)
        store(rows[r], column, results[static_cast<size_t>(column)]);
    }
  }
}

}  // namespace

void emit_winograd_input(VectorBuilder& b, int64_t tile,
                         llvm::function_ref<Value*(int, int)> load,
                         llvm::function_ref<void(int, int, Value*)> store) {
  const auto points = static_cast<int>(tile) + 2;
  transform(b, tile == 4 ? input_row_of_4 : input_row_of_2,
            input_groups(tile, b.level()), points, points, load, store);
}

void emit_winograd_output(VectorBuilder& b, int64_t tile,
                          llvm::function_ref<Value*(int, int)> load,
                          llvm::function_ref<void(int, int, Value*)> store) {
  const auto wanted = static_cast<int>(tile);
  transform(b, tile == 4 ? output_row_of_4 : output_row_of_2,
            output_groups(tile, b.level()), wanted + 2, wanted, load, store);
}

}  // namespace fxjit::jit
