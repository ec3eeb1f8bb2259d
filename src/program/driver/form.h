// What the code of a driver depends on. A driver runs the steps of a program
// one after the other: straight code, compiled as kernels are. Only the
// structure of the program is in it, so programs of one structure, such as a
// model at several input sizes, share a driver; all numbers and addresses are
// loaded from what it is given (frame.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/program/driver/frame.h"

namespace fxjit::program {

// How the driver runs a step.
enum class StepBy : uint8_t {
  kernel,     // A direct call of its kernel, for all of its tasks.
  primitive,  // A call of oneDNN.
  runtime,    // A call of fxjit_run_step.
};

// An operand in the caller's memory, whose address differs from call to call.
struct CallOperand {
  int32_t slot;   // Into DriverState::operands.
  int32_t index;  // Which input or output.
  bool output;

  friend bool operator==(const CallOperand&, const CallOperand&) = default;
};

// An argument of a primitive that is one of them.
struct CallArgument {
  int32_t step;      // Of the driver.
  int32_t argument;  // Into PrimitiveCall::memories.
  int32_t slot;

  friend bool operator==(const CallArgument&, const CallArgument&) = default;
};

struct DriverForm {
  using Fn = DriverFn;
  static constexpr const char* kName = "driver";

  std::vector<StepBy> steps;
  std::vector<CallOperand> operands;  // Those of one tensor side by side.
  std::vector<CallArgument> arguments = {};  // In the order of the steps.

  friend bool operator==(const DriverForm&, const DriverForm&) = default;
};

// Text that is equal for equal forms.
std::string form_key(const DriverForm& form);

}  // namespace fxjit::program
