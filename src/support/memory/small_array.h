// An array whose size is known when it is made, on the stack up to N elements.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace fxjit::support {

template <typename T, size_t N>
class SmallArray {
 public:
  explicit SmallArray(size_t size) : size_(size) {
    if (size > N) {
      many_.resize(size);
      data_ = many_.data();
    } else {
      std::fill_n(few_.data(), size, T{});
    }
  }
  SmallArray(const SmallArray&) = delete;
  SmallArray& operator=(const SmallArray&) = delete;

  size_t size() const { return size_; }
  T* data() { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

 private:
  size_t size_;
  std::array<T, N> few_;  // Only what is used is set.
  std::vector<T> many_;
  T* data_ = few_.data();
};

}  // namespace fxjit::support
