#include "jit/emit/windows/channel_tile.h"

namespace fxjit::jit {

using program::WindowCombine;

namespace {

ChannelTile::Uses uses_of(int64_t results, const program::WindowForm& form,
                          int dim) {
  ChannelTile::Uses uses;
  for (int64_t result = 0; result < results; ++result)
    for (int64_t tap = 0; tap < form.taps[dim]; ++tap)
      uses[result * form.strides[dim] + tap * form.dilations[dim]].push_back(
          {result, tap});
  return uses;
}

}  // namespace

ChannelTile::ChannelTile(const WindowParts& parts, int64_t rows, int64_t across,
                         bool exact)
    : rows(rows),
      across(across),
      exact(exact),
      row_uses(uses_of(rows, parts.form, 1)),
      column_uses(uses_of(across, parts.form, 2)),
      parts_(parts),
      form_(parts.form),
      b_(parts.b) {}

Values ChannelTile::products(const std::vector<Source>& sources, Value* table,
                             Value* bias, const Place& place) const {
  Values sums(size_t(rows * across), bias);
  size_t next = 0;
  for (int64_t depth = 0; depth < form_.taps[0]; ++depth)
    for (const auto& [y, of_row] : row_uses)
      for (const auto& [x, of_column] : column_uses) {
        const Source& source = sources[next++];
        Value* element = parts_.load(source.first, place);
        for (const Use& row : of_row)
          for (const Use& column : of_column) {
            const int64_t height = depth * form_.taps[1] + row.tap;
            Value*& sum = sums[size_t(row.result * across + column.result)];
            Value* weight =
                weight_at(table, height * form_.taps[2] + column.tap);
            if (sum == nullptr && exact) sum = b_.splat_f32(0, parts_.lanes);
            Value* more = sum == nullptr ? b_.mul(element, weight)
                                         : b_.fma(element, weight, sum);
            sum = exact ? b_.select(source.inside, more, sum) : more;
          }
      }
  return sums;
}

Value* ChannelTile::weight_at(Value* table, int64_t tap) const {
  return b_.load_raw(b_.vec(b_.f32(), parts_.lanes),
                     b_.offset(table, b_.f32(), tap * parts_.lanes),
                     parts_.lanes * 4);
}

Values ChannelTile::pooled(const std::vector<Source>& sources,
                           const Place& place) const {
  const auto load = [&](size_t i) {
    return parts_.load(sources[i].first, place);
  };
  const auto greater = [&](Value* a, Value* x) { return b_.max_fast(a, x); };
  if (form_.combine == WindowCombine::sums)
    return joined(load, [&](Value* a, Value* x) { return b_.add(a, x); });
  if (form_.input != DType::f32) return joined(load, greater);
  // Asking for NaN takes less time than a maximum that keeps it.
  Value *nan = nullptr, *waiting = nullptr;
  const auto ask = [&](Value* a, Value* x) {
    Value* either = b_.ir().CreateFCmpUNO(a, x);
    nan = nan == nullptr ? either : b_.bit_or(nan, either);
  };
  const auto load_asking = [&](size_t i) {
    Value* element = load(i);
    if (waiting != nullptr) ask(waiting, element);
    waiting = waiting == nullptr ? element : nullptr;
    return element;
  };
  const Values fast = joined(load_asking, greater);
  if (waiting != nullptr) ask(waiting, waiting);
  // Elements are loaded anew, so that none is kept for the rare case.
  const auto load_again = [&](size_t i) {
    Value* element = load(i);
    if (auto* loaded = llvm::dyn_cast<llvm::LoadInst>(element))
      loaded->setVolatile(true);
    return element;
  };
  return b_.if_else(
      b_.any(nan),
      [&] {
        return joined(load_again,
                      [&](Value* a, Value* x) { return b_.max(a, x); });
      },
      [&] { return fast; });
}

// Rows are joined before columns: results that lie side by side share what
// columns have in common.
Values ChannelTile::joined(Load load, Combine combine) const {
  Values sums(size_t(rows * across), nullptr);
  const auto add = [&](Value*& sum, Value* more) {
    sum = sum == nullptr ? more : combine(sum, more);
  };
  size_t column = 0;
  for (const auto& [x, of_column] : column_uses) {
    Values of_rows(size_t(rows), nullptr);
    size_t next = column++;
    for (int64_t depth = 0; depth < form_.taps[0]; ++depth)
      for (const auto& [y, of_row] : row_uses) {
        Value* element = load(next);
        for (const Use& row : of_row) add(of_rows[size_t(row.result)], element);
        next += column_uses.size();
      }
    for (int64_t i = 0; i < rows; ++i)
      for (const Use& use : of_column)
        add(sums[size_t(i * across + use.result)], of_rows[size_t(i)]);
  }
  return sums;
}

}  // namespace fxjit::jit
