#include "fxjit/dims.h"

#include <algorithm>

#include "fxjit/error.h"

namespace fxjit {
namespace {

void check_rank(int64_t count) {
  if (count > kMaxRank)
    throw UserError("rank: expected at most " + std::to_string(kMaxRank) +
                    " dimensions, got " + std::to_string(count));
}

}  // namespace

Dims::Dims(std::initializer_list<Size> values)
    : Dims(std::span<const Size>(values.begin(), values.size())) {}

Dims::Dims(std::span<const Size> values) {
  check_rank(static_cast<int64_t>(values.size()));
  std::copy(values.begin(), values.end(), values_.begin());
  count_ = static_cast<int>(values.size());
}

Dims::Dims(std::span<const int64_t> values) {
  check_rank(static_cast<int64_t>(values.size()));
  std::copy(values.begin(), values.end(), values_.begin());
  count_ = static_cast<int>(values.size());
}

Dims::Dims(int count, Size value) { resize(count, value); }

void Dims::push_back(Size value) { insert(count_, value); }

void Dims::insert(int at, Size value) {
  check_rank(count_ + 1);
  std::copy_backward(begin() + at, end(), end() + 1);
  values_[at] = value;
  ++count_;
}

void Dims::erase(int at) {
  std::copy(begin() + at + 1, end(), begin() + at);
  --count_;
}

void Dims::resize(int count, Size value) {
  check_rank(count);
  if (count > count_) std::fill(end(), begin() + count, value);
  count_ = count;
}

std::string Dims::str() const {
  std::string text = "[";
  for (int i = 0; i < count_; ++i)
    text += (i ? ", " : "") + to_string(values_[i]);
  return text + "]";
}

Size numel(const Dims& sizes) {
  // A zero anywhere makes the tensor empty, however large the other sizes.
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  Size product = 1;
  for (Size size : sizes)
    if (mul_overflow(product, size, &product))
      throw UserError("numel: sizes " + sizes.str() + " overflow int64");
  return product;
}

Dims contiguous_strides(const Dims& sizes) {
  Dims strides(sizes.size(), 1);
  for (int i = sizes.size() - 2; i >= 0; --i)
    if (mul_overflow(strides[i + 1], larger(sizes[i + 1], 1), &strides[i]))
      throw UserError("strides: sizes " + sizes.str() + " overflow int64");
  return strides;
}

Dims broadcast_shapes(const Dims& a, const Dims& b) {
  Dims result = a.size() >= b.size() ? a : b;
  for (int back = 1; back <= std::min(a.size(), b.size()); ++back) {
    const Size left = a[a.size() - back], right = b[b.size() - back];
    const int d = result.size() - back;
    if (left != right && left != 1 && right != 1)
      throw RuntimeError("The size of tensor a (" + to_string(left) +
                         ") must match the size of tensor b (" +
                         to_string(right) + ") at non-singleton dimension " +
                         std::to_string(d));
    result[d] = left == 1 ? right : left;
  }
  return result;
}

int wrap_dim(int64_t dim, int rank) {
  const int64_t bound = rank == 0 ? 1 : rank;
  if (dim < -bound || dim >= bound)
    throw IndexError("Dimension out of range (expected to be in range of [" +
                     std::to_string(-bound) + ", " + std::to_string(bound - 1) +
                     "], but got " + std::to_string(dim) + ")");
  return static_cast<int>(dim < 0 ? dim + bound : dim);
}

}  // namespace fxjit
