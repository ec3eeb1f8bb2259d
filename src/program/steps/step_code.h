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

// What the code of a step, generated or not, is given at each call.
struct StepCall {
  void* const* operands;  // First element of each operand of the step.
  std::byte* scratch;     // This thread's; size from StepPlan.
  int32_t* status;        // Set to a StepStatus on a data-dependent error.
  const void* data = nullptr;  // StepCode::data.
  // For extern code with a generated part: the kernel of that part, which it
  // calls with `data`.
  KernelFn part = nullptr;
  // Where extern code adds the times of the programs that it calls; null if
  // nobody asks.
  std::vector<StepTimes>* bodies = nullptr;
};

enum StepStatus : int32_t { kOk = 0, kIndexOutOfRange = 1, kFailed = 2 };

// Thrown by a call if a step cannot compute with the values that it is given,
// such as an index out of range or an integer division by zero. The interpreter
// then finds the error again, with node and line.
class ValueFailure : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};

// Extern code: an eager function, a primitive of oneDNN or a routine. Immutable
// and thread-safe; it may allocate.
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
  // A program that the code calls, and its name in reports.
  struct Body {
    std::string name;
    const Executable* program = nullptr;
  };
  virtual std::vector<Body> bodies() const { return {}; }
  // Whether the code writes memory of the caller. It is then not run once an
  // earlier step has failed.
  virtual bool writes_inputs() const { return false; }
  // Restores what run() has overwritten there. Called with the same operands if
  // a later step fails.
  virtual void undo(const StepCall&) const {}
  // What reports say: `library`, `routine` or, for the interpreter's fallback,
  // `eager`.
  virtual ComputedBy computed_by() const = 0;
  bool native() const { return is_native(computed_by()); }
};

// The code of a step and the data that it finds in StepCall::data.
struct StepCode {
  // The step's kernel. For an extern step StepCall::part, which is mostly null.
  KernelFn kernel = nullptr;
  std::shared_ptr<const void> data;
  std::shared_ptr<const ExternCode> external;  // Null for generated steps.
};

// How a step is run; it follows from sizes and CPU level alone.
struct StepPlan {
  int64_t tasks = 1;
  int64_t grain = 1;     // Tasks that are worth handing to another thread.
  int64_t together = 1;  // Tasks that had better not be parted.
  size_t scratch_bytes = 0;
  double flops = 0;
  double bytes = 0;  // Touched at least once.
};

}  // namespace fxjit::program
