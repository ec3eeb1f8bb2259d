// What steps are computed by: generated kernels, and extern kernels for steps
// that no skeleton computes. Made from steps by the bind stage, run by
// Executable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fxjit/computed_by.h"
#include "fxjit/error.h"

namespace fxjit::program {

class Executable;
struct StepTimes;

// What a kernel, generated or not, gets per call.
struct KernelCall {
  void* const* operands;  // First element of each operand of the step.
  std::byte* scratch;     // This thread's; size from KernelPlan.
  int32_t* status;        // Set to a KernelStatus on a data-dependent error.
  const void* data = nullptr;  // StepCode::data.
  // Where extern kernels with bodies() add up what these take; null: nowhere.
  std::vector<StepTimes>* bodies = nullptr;
};

enum KernelStatus : int32_t { kOk = 0, kIndexOutOfRange = 1, kFailed = 2 };

// What a call throws for values that a step cannot compute with, such as an
// index outside or an integer divided by zero. The interpreter finds the error
// again, with node and line.
class ValueFailure : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};

// Runs tasks [begin, end) of a step.
using KernelFn = void (*)(const KernelCall* call, int64_t begin, int64_t end);

// A step computed by code that is not generated: an eager function, a oneDNN
// primitive, a run-time packing. Immutable and thread-safe; may allocate.
class ExternKernel {
 public:
  virtual ~ExternKernel() = default;
  // Number of independent tasks.
  virtual int64_t tasks() const { return 1; }
  virtual size_t scratch_bytes() const { return 0; }
  // False for an operand that is a constant which the kernel holds in another
  // form and never reads: null in calls.
  virtual bool reads(size_t /*operand*/) const { return true; }
  virtual void run(const KernelCall& call, int64_t begin,
                   int64_t end) const = 0;
  virtual std::string describe() const = 0;
  // The programs that it calls, each with its name.
  struct Body {
    std::string name;
    const Executable* program = nullptr;
  };
  virtual std::vector<Body> bodies() const { return {}; }
  // Writes memory of the caller's: not run once a step before it has failed.
  virtual bool writes_inputs() const { return false; }
  // Puts back what run() overwrote there, with the same operands; called when a
  // later step fails.
  virtual void undo(const KernelCall&) const {}
  // What reports say: `library`, `routine` or, for the interpreter's fallback,
  // `eager`.
  virtual ComputedBy computed_by() const = 0;
  bool native() const { return is_native(computed_by()); }
};

// A step's code: what to call, and what it finds in KernelCall::data.
struct StepCode {
  KernelFn kernel = nullptr;  // Null for extern steps.
  std::shared_ptr<const void> data;
  std::shared_ptr<const ExternKernel> external;  // Null for generated steps.
};

// How a step's kernel is run, from sizes and CPU level alone.
struct KernelPlan {
  int64_t tasks = 1;
  int64_t grain = 1;  // Tasks that are worth handing to another thread.
  size_t scratch_bytes = 0;
  double flops = 0;
  double bytes = 0;  // Touched at least once.
};

}  // namespace fxjit::program
