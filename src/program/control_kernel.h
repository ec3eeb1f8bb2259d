// A step that runs programs of its own: the branch that a predicate chooses, or
// a body again and again. Programs read and write the memory of the call around
// them; what a loop carries lies in two places in turn.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/fx/control_flow/functions.h"
#include "src/program/executable.h"
#include "src/program/steps.h"

namespace fxjit::program {

struct ControlBody {
  std::string name;
  std::shared_ptr<const Executable> program;
  // For each input of the program, the argument of the body that it is.
  std::vector<int32_t> arguments;
  // A branch that fails whenever it is taken; its program is another's.
  bool fails = false;
};

// A call of passes::control_op() as a step: the tensors of `pred`, `carried`,
// `xs` and `operands` are its first operands, in this order, `results` the others.
struct ControlStep {
  fx::ControlFlow kind = fx::ControlFlow::cond;
  std::vector<ControlBody> bodies;
  Value pred;  // Meta tensors, also below; operands may be numbers.
  ValueList carried;
  ValueList xs;
  ValueList operands;
  ValueList results;
  fx::LoopLimits limits;
};

std::shared_ptr<const ExternKernel> make_control_kernel(ControlStep step);

}  // namespace fxjit::program
