#include "jit/emit/windows/plane_tile.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace fxjit::jit {
namespace {

using program::WindowCombine;
using program::WindowForm;

class Tile {
 public:
  Tile(VectorBuilder& b, const WindowForm& form, PlaneTile& parts,
       Value* column, bool masked)
      : b_(b), form_(form), parts_(parts), masked_(masked) {
    first_ = b.sub(b.mul(column, b.i64(stride())), parts.pad);
  }

  std::vector<Values> run(int64_t vectors) {
    sums_.assign(size_t(form_.rows), Values(size_t(vectors), nullptr));
    columns_.assign(sums_.size(), std::vector<Columns>(size_t(vectors)));
    if (by_columns())
      for (int64_t k = 0; k < form_.taps[2]; ++k) add_rows(vectors, {k});
    else
      add_rows(vectors, all_taps());
    for (size_t i = 0; i < sums_.size(); ++i)
      for (size_t v = 0; v < sums_[i].size(); ++v) {
        if (!has_weights()) sums_[i][v] = joined(columns_[i][v], i);
        sums_[i][v] = in_order(sums_[i][v]);
      }
    return sums_;
  }

  // What the first tap of the first place reads, in all lanes.
  Values before() {
    Values found(size_t(form_.rows), nullptr);
    Value* is_outside = b_.lt(first_, b_.i64(0));
    size_t row = 0;
    for (int64_t depth = 0; depth < form_.taps[0]; ++depth)
      for (const auto& [distance, uses] : window_rows(form_)) {
        Value* at = address(parts_.rows[row++], 0);
        Value* element = b_.load_broadcast(
            DType::f32, b_.select(is_outside, parts_.outside, at));
        if (looks()) look_at({element});
        for (const RowUse& use : uses) {
          Value*& known = found[size_t(use.result)];
          known = combined(known, element);
        }
      }
    return found;
  }

 private:
  // What loads of a row give, by their first element.
  using Columns = std::map<int64_t, Value*>;
  using Loads = llvm::function_ref<Value*(int64_t at)>;

  // Taps of a row.
  using Taps = std::vector<int64_t>;
  Taps all_taps() const {
    Taps taps(size_t(form_.taps[2]));
    std::iota(taps.begin(), taps.end(), 0);
    return taps;
  }
  // Tiles with masks, of which each tap has one, go through all rows for a tap:
  // they would not fit the registers beside the weights of all taps.
  bool by_columns() const { return has_weights() && masked_ && stride() == 1; }

  void add_rows(int64_t vectors, const Taps& taps) {
    size_t row = 0;
    for (int64_t depth = 0; depth < form_.taps[0]; ++depth)
      for (const auto& [distance, uses] : window_rows(form_)) {
        for (int64_t v = 0; v < vectors; ++v) {
          shift_ = v * b_.lanes() * stride();
          if (has_weights())
            add_products(row, v, depth, uses, taps);
          else
            add_columns(parts_.rows[row], v, uses);
        }
        ++row;
      }
  }

  int64_t stride() const { return form_.strides[2]; }
  // Whether elements that are a stride apart are made of vectors of neighbours.
  bool pairs() const { return stride() == 2 && !parts_.exact; }
  bool carries() const { return !masked_ && program::carries_columns(form_); }
  bool has_weights() const { return form_.combine == WindowCombine::products; }

  void add_products(size_t row, int64_t vector, int64_t depth,
                    const std::vector<RowUse>& uses, const Taps& taps) {
    Columns loaded;
    const auto loads = [&](int64_t at) {
      Value*& known = loaded[at];
      if (known == nullptr) known = load(parts_.rows[row], at);
      return known;
    };
    for (const int64_t k : taps) {
      Value* elements = tap(k, loads);
      Value* counts = parts_.exact ? counted(row, k) : nullptr;
      for (const RowUse& use : uses) {
        Value*& sum = sums_[size_t(use.result)][size_t(vector)];
        const int64_t height = depth * form_.taps[1] + use.tap;
        Value* factor = weight(height * form_.taps[2] + k);
        if (sum == nullptr) sum = parts_.bias;
        if (sum == nullptr) sum = b_.splat_f32(0);
        Value* next = b_.fma(elements, factor, sum);
        sum = counts == nullptr ? next : b_.select(counts, next, sum);
      }
    }
  }

  // Which lanes of tap `k` of a row are in the input.
  Value* counted(size_t row, int64_t k) {
    Value* columns = inside(shift_ + k * form_.dilations[2], stride());
    return b_.bit_and(columns, b_.splat(parts_.rows_inside[row]));
  }

  // Without weights, rows are joined before columns: they share what columns
  // have in common.
  void add_columns(Value* row, int64_t vector,
                   const std::vector<RowUse>& uses) {
    Columns loaded;
    const auto loads = [&](int64_t at) {
      Value*& known = loaded[at];
      if (known == nullptr) known = load(row, at);
      return known;
    };
    for (int64_t k = carries() ? 1 : 0; k < form_.taps[2]; ++k) tap(k, loads);
    if (looks()) look_for_nan(loaded);
    for (const auto& [at, elements] : loaded)
      for (const RowUse& use : uses) {
        Value*& sum = columns_[size_t(use.result)][size_t(vector)][at];
        sum = combined(sum, elements);
      }
  }

  // Vectors of neighbours have all elements between them that tiles read if
  // those of the first and of the last tap have.
  void look_for_nan(const Columns& loaded) {
    const int64_t reach = loaded.rbegin()->first - loaded.begin()->first;
    const bool all = form_.narrow || stride() > 2 ||
                     reach > stride() * b_.lanes() ||
                     loaded.size() <= size_t(stride());
    Values looked_at;
    for (const auto& [at, elements] : loaded) {
      const int64_t first = at - loaded.begin()->first;
      const int64_t ends = first % b_.lanes();
      if (all || ends == 0 || ends == reach % b_.lanes())
        looked_at.push_back(elements);
    }
    look_at(looked_at);
  }

  bool looks() const { return parts_.seen != nullptr && !parts_.keeps_nan; }

  void look_at(const Values& elements) {
    for (size_t i = 0; i < elements.size(); i += 2) {
      Value* other = elements[std::min(i + 1, elements.size() - 1)];
      Value* bad = b_.ir().CreateFCmpUNO(elements[i], other);
      Value* wide = b_.ir().CreateSExt(bad, parts_.seen->getType());
      parts_.seen = b_.bit_or(parts_.seen, wide);
    }
  }

  Value* joined(const Columns& columns, size_t result) {
    const auto at = [&](int64_t place) { return columns.at(place); };
    Value* sum = nullptr;
    for (int64_t k = carries() ? 1 : 0; k < form_.taps[2]; ++k)
      sum = combined(sum, tap(k, at));
    if (!carries()) return sum;
    Value* moved = one_later(tap(form_.taps[2] - 1, at));
    std::vector<int> lanes(size_t(b_.lanes()), 0);
    for (int i = 1; i < b_.lanes(); ++i) lanes[size_t(i)] = b_.lanes() + i;
    Value* first =
        b_.ir().CreateShuffleVector(parts_.before[result], moved, lanes);
    parts_.before[result] = moved;
    return combined(sum, first);
  }

  Value* combined(Value* sum, Value* elements) {
    if (sum == nullptr) return elements;
    if (form_.combine == WindowCombine::sums) return b_.add(sum, elements);
    return parts_.keeps_nan ? b_.max(sum, elements)
                            : b_.max_fast(sum, elements);
  }

  Value* weight(int64_t tap) {
    if (!parts_.weights.empty()) return parts_.weights[size_t(tap)];
    return b_.load_aligned(b_.offset(parts_.table, b_.f32(), tap * b_.lanes()));
  }

  // The elements under tap `k` of a row, of what `loads` has; in every_second()
  // order where the stride is two.
  Value* tap(int64_t k, Loads loads) {
    const int64_t at = k * form_.dilations[2];
    if (!pairs()) return loads(at);
    // Of three columns, pairs have the second and the third.
    const int64_t first = carries() ? 1 : at / 2 * 2;
    Value* low = loads(first);
    return every_second(low, loads(first + b_.lanes()), at != first);
  }

  Value* address(Value* row, int64_t at) {
    return b_.offset(b_.offset(row, b_.f32(), first_), b_.f32(), at);
  }

  // Which of the elements from `at` on, `step` apart, lie inside the row.
  Value* inside(int64_t at, int64_t step) {
    Value* lanes =
        b_.mul(b_.iota(b_.i32()), b_.splat(b_.i32(int32_t(step)), b_.lanes()));
    Value* from = b_.add(lanes, b_.splat(b_.i32(int32_t(at)), b_.lanes()));
    Value* place =
        b_.add(b_.splat(b_.ir().CreateTrunc(first_, b_.i32())), from);
    Value* width = b_.ir().CreateTrunc(parts_.width, b_.i32());
    return b_.lt(place, b_.splat(width), /*is_unsigned=*/true);
  }

  // What counts outside.
  Value* outside() {
    return b_.splat_f32(form_.combine == WindowCombine::maximum
                            ? -std::numeric_limits<double>::infinity()
                            : 0);
  }

  // The elements from `at` on, of the vector that is worked on; where there
  // are no pairs those that are a stride apart.
  Value* load(Value* row, int64_t at) {
    llvm::Type* type = b_.vec(b_.f32());
    at += shift_;
    if (stride() > 1 && !pairs()) return load_apart(row, at);
    if (!masked_) return b_.load_raw(type, address(row, at));
    return b_.ir().CreateMaskedLoad(type, address(row, at), llvm::Align(4),
                                    inside(at, 1), outside());
  }

  Value* load_apart(Value* row, int64_t at) {
    Value* lanes = b_.mul(b_.iota(b_.i32()),
                          b_.splat(b_.i32(int32_t(stride())), b_.lanes()));
    Value* mask = masked_ ? inside(at, stride()) : nullptr;
    Value* gathered = b_.gather(DType::f32, address(row, at), lanes, mask);
    return masked_ ? b_.select(mask, gathered, outside()) : gathered;
  }

  // Of two vectors, in the order that shuffles within four lanes give.
  Value* every_second(Value* low, Value* high, bool odd) {
    std::vector<int> lanes;
    for (int group = 0; group < b_.lanes(); group += 4)
      for (int i = 0; i < 4; ++i)
        lanes.push_back((i < 2 ? 0 : b_.lanes()) + group + i % 2 * 2 +
                        int(odd));
    return b_.ir().CreateShuffleVector(low, high, lanes);
  }

  // By column, the lane that every_second() puts it into.
  std::vector<int> lanes_of_columns() {
    std::vector<int> lanes(size_t(b_.lanes()));
    for (int group = 0; group < b_.lanes(); group += 4)
      for (int i = 0; i < 4; ++i)
        lanes[size_t(group / 2 + i % 2 + (i < 2 ? 0 : b_.lanes() / 2))] =
            group + i;
    return lanes;
  }

  // From the order of every_second() to that of columns.
  Value* in_order(Value* sum) {
    if (!pairs() || b_.lanes() == 4) return sum;
    return b_.ir().CreateShuffleVector(sum, lanes_of_columns());
  }

  // In the order of every_second(), each column to the lane of the next one,
  // the last one to the first.
  Value* one_later(Value* elements) {
    const std::vector<int> places = lanes_of_columns();
    std::vector<int> lanes(places.size());
    for (size_t i = 0; i < places.size(); ++i)
      lanes[size_t(places[(i + 1) % places.size()])] = places[i];
    return b_.ir().CreateShuffleVector(elements, lanes);
  }

  VectorBuilder& b_;
  const WindowForm& form_;
  PlaneTile& parts_;
  bool masked_;
  Value* first_;  // Of the row: what the left tap of the first place reads.
  int64_t shift_ = 0;         // Elements before the vector that is worked on.
  std::vector<Values> sums_;  // By row and vector.
  std::vector<std::vector<Columns>> columns_;
};

}  // namespace

std::map<int64_t, std::vector<RowUse>> window_rows(const WindowForm& form) {
  std::map<int64_t, std::vector<RowUse>> rows;
  for (int64_t result = 0; result < form.rows; ++result)
    for (int64_t tap = 0; tap < form.taps[1]; ++tap)
      rows[result * form.strides[1] + tap * form.dilations[1]].push_back(
          {result, tap});
  return rows;
}

Values columns_before(VectorBuilder& b, const WindowForm& form, PlaneTile& tile,
                      Value* column) {
  return Tile(b, form, tile, column, false).before();
}

std::vector<Values> emit_plane_tile(VectorBuilder& b, const WindowForm& form,
                                    PlaneTile& tile, Value* column,
                                    int64_t vectors, bool masked) {
  return Tile(b, form, tile, column, masked).run(vectors);
}

}  // namespace fxjit::jit
