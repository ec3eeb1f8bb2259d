// Copies of short runs of memory into contiguous memory, as pixels out of
// channels are: generated rows would each be a few elements of one vector.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "src/program/planner.h"

namespace fxjit::kernels {

// Immutable. Elements have four bytes.
class RunCopy {
 public:
  // Nothing where runs are long, of one element, or lie too far apart.
  static std::optional<RunCopy> make(const Dims& sizes, const Dims& strides);

  int64_t elements() const { return outer_count() * split_size_ * entry_; }
  int64_t blocks() const { return outer_count() * chunks(); }
  // Blocks [begin, end); `in` is the first element.
  void run(const float* in, float* out, int64_t begin, int64_t end) const;

 private:
  int64_t outer_count() const { return numel(outer_sizes_); }
  int64_t chunks() const { return (split_size_ + chunk_ - 1) / chunk_; }

  // The result is [outer..., split, entry]; places are those of a chunk of the
  // split dim, of runs of `run_` elements.
  Dims outer_sizes_, outer_strides_;
  int64_t split_size_ = 1, split_stride_ = 0;
  int64_t entry_ = 1;
  int64_t chunk_ = 1;
  int run_ = 1;
  std::vector<int32_t> places_;
};

// Of materialize; null where generated code does as well.
std::shared_ptr<const program::ExternKernel> make_copy_kernel(
    const program::KernelRequest& request);

}  // namespace fxjit::kernels
