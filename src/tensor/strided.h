// Walking strided memory: how copies, eager functions and reductions visit the
// elements of views. Holds no data; strides are in elements.
#pragma once

#include <array>
#include <cstdint>

#include "fxjit/dims.h"

namespace fxjit {

// Strides with which an operand of `sizes`/`strides` is read as if it had the
// shape `target` (0 along broadcast dimensions). Shapes must broadcast.
Dims broadcast_strides(const Dims& sizes, const Dims& strides,
                       const Dims& target);

// A loop nest over N operands of one shape, with size-1 dimensions dropped and
// dimensions that are contiguous for every operand merged.
template <int N>
struct LoopNest {
  Dims sizes;  // Outermost first; never empty.
  std::array<Dims, N> strides;

  LoopNest(const Dims& shape, const std::array<Dims, N>& operand_strides) {
    for (int d = 0; d < shape.size(); ++d) append(shape[d], operand_strides, d);
    if (sizes.empty()) {
      sizes.push_back(1);
      for (Dims& s : strides) s.push_back(0);
    }
  }

  // Calls fn(offsets, strides, n) once per innermost row of n elements.
  template <typename Fn>
  void for_each_row(Fn&& fn) const {
    if (fxjit::numel(sizes) == 0) return;
    const int inner = sizes.size() - 1;
    std::array<int64_t, N> offsets{};
    std::array<int64_t, N> steps;
    for (int k = 0; k < N; ++k) steps[k] = strides[k][inner];
    Dims index(inner, 0);
    while (true) {
      fn(offsets, steps, sizes[inner]);
      int d = inner - 1;
      for (; d >= 0; --d) {
        for (int k = 0; k < N; ++k) offsets[k] += strides[k][d];
        if (++index[d] < sizes[d]) break;
        for (int k = 0; k < N; ++k) offsets[k] -= strides[k][d] * sizes[d];
        index[d] = 0;
      }
      if (d < 0) return;
    }
  }

 private:
  void append(int64_t size, const std::array<Dims, N>& from, int d) {
    if (size == 1) return;
    const int last = sizes.size() - 1;
    bool merge = last >= 0;
    for (int k = 0; k < N && merge; ++k)
      merge = strides[k][last] == from[k][d] * size;
    if (!merge) sizes.push_back(size);
    for (int k = 0; k < N; ++k) {
      if (merge)
        strides[k][last] = from[k][d];
      else
        strides[k].push_back(from[k][d]);
    }
    if (merge) sizes[last] *= size;
  }
};

}  // namespace fxjit
