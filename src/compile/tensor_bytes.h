// Where the elements of tensors lie in memory, and whether two tensors share
// some of it.
#pragma once

#include <cstddef>

#include "fxjit/tensor.h"

namespace fxjit {

// First and last byte of a tensor's elements, end exclusive.
struct Bytes {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
};

inline Bytes bytes_of(const Tensor& t) {
  if (t.numel() == 0) return {};
  int64_t last = 0;
  for (int d = 0; d < t.dim(); ++d) last += (t.sizes()[d] - 1) * t.strides()[d];
  const auto* begin = static_cast<const std::byte*>(t.data());
  return {begin, begin + (last + 1) * static_cast<int64_t>(t.item_size())};
}

// Also of gaps between their elements: true is the safe answer.
inline bool overlap(const Tensor& a, const Tensor& b) {
  const Bytes x = bytes_of(a), y = bytes_of(b);
  return x.begin < y.end && y.begin < x.end;
}

}  // namespace fxjit
