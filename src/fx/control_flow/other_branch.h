// The branch that a call does not take, run without data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "src/fx/control_flow/functions.h"

namespace fxjit::fx {

// Calls for which a branch was compared with the one taken, without finding a
// difference, by the sizes and dtypes of operands and results. Remembers the
// last few. Thread-safe.
class ComparedCalls {
 public:
  using Signature = std::vector<int64_t>;
  bool contains(const Signature& call) const;
  void add(Signature call);

 private:
  mutable std::mutex mutex_;
  std::vector<Signature> calls_;
  size_t next_ = 0;  // The entry to replace next, once all are in use.
};

// RuntimeError with torch's text where the branch would give results of another
// structure, dtype or rank than `made`, which the taken branch gave. Tracing
// sees no shapes, so that a call is the first to know. Branches that call
// functions of the user's or have effects are not run; those that fail without
// data are not compared, and the log says why. A comparison that finds no
// difference is made once for the same sizes and dtypes.
void check_other_branch(const ControlCall& call, size_t taken,
                        const Value& made);

}  // namespace fxjit::fx
