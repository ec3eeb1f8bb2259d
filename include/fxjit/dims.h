// A short list of sizes or strides, held inline: shapes never allocate.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

#include "fxjit/size.h"

namespace fxjit {

// Highest supported rank of a tensor.
inline constexpr int kMaxRank = 8;

class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<Size> values);
  explicit Dims(std::span<const Size> values);
  explicit Dims(std::span<const int64_t> values);
  Dims(int count, Size value);

  int size() const { return count_; }
  bool empty() const { return count_ == 0; }
  Size operator[](int i) const { return values_[i]; }
  Size& operator[](int i) { return values_[i]; }
  Size back() const { return values_[count_ - 1]; }

  const Size* begin() const { return values_.data(); }
  const Size* end() const { return values_.data() + count_; }
  Size* begin() { return values_.data(); }
  Size* end() { return values_.data() + count_; }
  const Size* data() const { return values_.data(); }

  // Throw UserError beyond kMaxRank.
  void push_back(Size value);
  void insert(int at, Size value);
  void erase(int at);
  void resize(int count, Size value = 0);

  std::span<const Size> span() const {
    return {values_.data(), static_cast<size_t>(count_)};
  }
  std::string str() const;  // "[2, 3]"

  friend bool operator==(const Dims& a, const Dims& b) {
    return a.count_ == b.count_ && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  std::array<Size, kMaxRank> values_{};
  int count_ = 0;
};

// Product of sizes; throws UserError when it overflows int64.
Size numel(const Dims& sizes);

// Row-major strides in elements.
Dims contiguous_strides(const Dims& sizes);

// Common shape of two operands; throws RuntimeError with torch's text when they
// do not broadcast.
Dims broadcast_shapes(const Dims& a, const Dims& b);

// Strides that show a tensor of `sizes` and `strides` as `new_sizes` without
// copying; nothing when there are none. The element counts must be equal.
std::optional<Dims> view_strides(const Dims& sizes, const Dims& strides,
                                 const Dims& new_sizes);

// `dim` in [-rank, rank) to [0, rank); throws IndexError with torch's text.
int wrap_dim(int64_t dim, int rank);

}  // namespace fxjit
