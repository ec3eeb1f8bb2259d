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
#include "src/passes/lowering/image_way_text.h"
#include "src/program/steps/machine.h"
#include "src/program/steps/steps.h"
#include "src/support/memory/shared_value.h"
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
  support::SharedValue<StepBody> body;  // Equal layers share one.
  std::vector<OperandRef> operands;
  std::string label;  // "linear+gelu", for reports and profiles.
  // Captured nodes it computes.
  support::SharedValue<std::vector<std::string>> nodes;
  // For each operand, why the step that computes it was not fused with this
  // one. Empty if there is nothing to say.
  std::vector<passes::Apart> apart = {};
  // How the convolution or pooling that it computes is computed, if it does.
  passes::ImageWay way = passes::ImageWay::none;

  friend bool operator==(const Step&, const Step&) = default;
};

// A tensor that steps read and never write: a parameter, or a tensor that the
// passes made.
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

  // What the call returns. `result` has the structure of the model's result
  // with meta tensors as leaves; the i-th meta tensor stands for outputs[i].
  // Other leaves are returned as they are.
  struct Output {
    TensorSpec spec;
    int32_t buffer = -1;  // Home output, input (a view of one) or constant.
    int64_t byte_offset = 0;
    // If not negative, a copy of the buffer is returned, one for all outputs
    // with this number. Constants that the program owns are copied, and results
    // that are one tensor only because equal calls were merged.
    int32_t copy = -1;

    friend bool operator==(const Output&, const Output&) = default;
  };
  std::vector<Output> outputs;
  Value result;

  // The inputs that steps write. A call must not give an input that shares
  // memory with another input or with a constant.
  std::vector<int32_t> written;
  // Buffers that a failed call needs to restore what it wrote. Nothing else
  // uses their memory.
  std::vector<int32_t> kept;

  int64_t arena_bytes = 0;
  // The programs that steps call, by ControlCall::Body::program.
  std::vector<Program> bodies;

  friend bool operator==(const Program& a, const Program& b);
};

}  // namespace fxjit::program
