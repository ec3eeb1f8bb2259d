// Program: a model for one tuple of input shapes, as a flat list of steps over
// buffers with fixed places. It is all that the code generator and the runtime
// see of a model. Plain data: it holds no pointer and no closure, and equal
// models have equal programs. Built by plan(); immutable afterwards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fxjit/value.h"
#include "src/passes/fusing/apart.h"
#include "src/program/steps/machine.h"
#include "src/program/steps/steps.h"
#include "src/tensor/tensor_spec.h"
#include "src/weights/spec.h"

namespace fxjit::program {

// Where a buffer lives while a call runs.
enum class Home : uint8_t {
  arena,     // Scratch of the call, at a fixed offset.
  constant,  // A parameter or folded tensor, as it is.
  packed,    // A packed weight.
  input,     // The caller's tensor.
  output,    // A block handed to the caller.
};

struct Buffer {
  Home home = Home::arena;
  int64_t bytes = 0;
  int64_t offset = 0;  // In the arena.
  int32_t index = 0;   // Which constant, packed weight, input or output.

  friend bool operator==(const Buffer&, const Buffer&) = default;
};

struct OperandRef {
  int32_t buffer = -1;
  int64_t byte_offset = 0;

  friend bool operator==(const OperandRef&, const OperandRef&) = default;
};

struct Step {
  StepBody body;
  std::vector<OperandRef> operands;
  std::string label;               // "linear+gelu", for reports and profiles.
  std::vector<std::string> nodes;  // Captured nodes it computes.
  // By operand: why the step that gives it does not compute this one's work
  // too. Empty where there is nothing to say.
  std::vector<passes::Apart> apart = {};

  friend bool operator==(const Step&, const Step&) = default;
};

// A tensor that the steps read but never write: a parameter, or what passes
// made of some.
struct Constant {
  std::string source;  // "layers.0.weight"; empty where passes made it.
  TensorSpec spec;
  int64_t offset = 0;  // Of the first element in the source's memory.

  friend bool operator==(const Constant&, const Constant&) = default;
};

struct Program {
  Machine machine;
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  std::vector<Constant> constants;
  std::vector<weights::PackSpec> packed;
  std::vector<TensorSpec> inputs;

  // What the call returns: `result` has the structure that the model returns,
  // with meta tensors as leaves; the i-th of them stands for outputs[i]. Other
  // leaves are returned as they are.
  struct Output {
    TensorSpec spec;
    int32_t buffer = -1;  // Home output, input (a view of one) or constant.
    int64_t byte_offset = 0;
    // Not negative: given as a copy of the buffer, one for all outputs of this
    // number. Constants of the program's own are, and results that only merged
    // calls made one.
    int32_t copy = -1;

    friend bool operator==(const Output&, const Output&) = default;
  };
  std::vector<Output> outputs;
  Value result;

  // Inputs that the steps write. Right where no other input, and no constant,
  // shares their memory.
  std::vector<int32_t> written;
  // Buffers that a failed call needs to undo what it wrote: theirs to the end.
  std::vector<int32_t> kept;

  int64_t arena_bytes = 0;
  // The programs that steps call, by ControlCall::Body::program.
  std::vector<Program> bodies;

  friend bool operator==(const Program& a, const Program& b);
};

}  // namespace fxjit::program
