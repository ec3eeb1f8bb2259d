// Copies of short runs of memory: see src/program/rows/short_runs.h.
#pragma once

#include <vector>

#include "src/program/rows/short_runs.h"

namespace fxjit::kernels {

class RunCopy {
 public:
  explicit RunCopy(const program::ShortRuns& runs);

  int64_t elements() const { return outer_count() * runs_.split_size * entry_; }
  int64_t blocks() const { return outer_count() * chunks(); }
  // Blocks [begin, end); `in` is the first element.
  void run(const float* in, float* out, int64_t begin, int64_t end) const;

 private:
  int64_t outer_count() const { return numel(runs_.outer_sizes); }
  int64_t chunks() const {
    return (runs_.split_size + runs_.chunk - 1) / runs_.chunk;
  }

  program::ShortRuns runs_;
  int64_t entry_;
  std::vector<int32_t> places_;  // Where the runs of a chunk begin.
};

}  // namespace fxjit::kernels
