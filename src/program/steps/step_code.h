// What steps are computed by: generated kernels, and extern code for steps that
// no skeleton computes. Made from steps by the bind stage, run by Executable.
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

struct StepCall;

// Runs tasks [begin, end) of a step.
using KernelFn = void (*)(const StepCall* call, int64_t begin, int64_t end);

// What a step's code, generated or not, gets per call.
struct StepCall {
  void* const* operands;  // First element of each operand of the step.
  std::byte* scratch;     // This thread's; size from StepPlan.
  int32_t* status;        // Set to a StepStatus on a data-dependent error.
  const void* data = nullptr;  // StepCode::data.
  // Generated code of a part of the step, which extern code calls with `data`.
  KernelFn part = nullptr;
  // Where extern code with bodies() adds up what these take; null: nowhere.
  std::vector<StepTimes>* bodies = nullptr;
};

enum StepStatus : int32_t { kOk = 0, kIndexOutOfRange = 1, kFailed = 2 };

// What a call throws for values that a step cannot compute with, such as an
// index outside or an integer divided by zero. The interpreter finds the error
// again, with node and line.
class ValueFailure : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};

// The code of a step that is not generated: an eager function, a oneDNN
// primitive, a routine. Immutable and thread-safe; may allocate.
class ExternCode {
 public:
  virtual ~ExternCode() = default;
  // Number of independent tasks.
  virtual int64_t tasks() const { return 1; }
  virtual size_t scratch_bytes() const { return 0; }
  // False for an operand that is a constant which the code holds itself, packed
  // for example, and never reads. The operand is null in calls.
  virtual bool reads(size_t /*operand*/) const { return true; }
  virtual void run(const StepCall& call, int64_t begin, int64_t end) const = 0;
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
  virtual void undo(const StepCall&) const {}
  // What reports say: `library`, `routine` or, for the interpreter's fallback,
  // `eager`.
  virtual ComputedBy computed_by() const = 0;
  bool native() const { return is_native(computed_by()); }
};

// A step's code: what to call, and what it finds in StepCall::data.
struct StepCode {
  // Of extern steps StepCall::part, null for most.
  KernelFn kernel = nullptr;
  std::shared_ptr<const void> data;
  std::shared_ptr<const ExternCode> external;  // Null for generated steps.
};

// How a step's code is run, from sizes and CPU level alone.
struct StepPlan {
  int64_t tasks = 1;
  int64_t grain = 1;     // Tasks that are worth handing to another thread.
  int64_t together = 1;  // Tasks that had better not be parted.
  size_t scratch_bytes = 0;
  double flops = 0;
  double bytes = 0;  // Touched at least once.
};

}  // namespace fxjit::program
