// Compares the branch that a call of cond does not take with the one that it
// takes, by running it on tensors without data. torch finds such differences
// while tracing; here only a call knows the shapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "src/fx/control_flow/functions.h"

namespace fxjit::fx {

// The calls of one branch that were compared and showed no difference, by the
// sizes and dtypes of their operands and results. Remembers the last few.
// Thread-safe.
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

// Throws RuntimeError with torch's text if the other branch would give results
// of another structure, dtype or rank than `made`, the result of branch `taken`
// (0 or 1). A branch that calls the user's functions or has effects is not run.
// A branch that fails without data is not compared, and the log says why. Calls
// of sizes and dtypes that were compared before cost a look-up.
void check_other_branch(const ControlCall& call, size_t taken,
                        const Value& made);

}  // namespace fxjit::fx
