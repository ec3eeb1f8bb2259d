// Program: a model for one tuple of input shapes, as a flat list of steps over
// buffers with fixed places. It is all that the code generator and the runtime
// see of a model. Built by passes/plan; immutable afterwards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fxjit/tensor.h"
#include "fxjit/value.h"
#include "src/passes/apart.h"
#include "src/program/steps.h"

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
};

struct OperandRef {
  int32_t buffer = -1;
  int64_t byte_offset = 0;
};

struct Step {
  StepBody body;
  std::vector<OperandRef> operands;
  std::string label;               // "linear+gelu", for reports and profiles.
  std::vector<std::string> nodes;  // Captured nodes it computes.
  // By operand: why the step that gives it does not compute this one's work too.
  // Empty where there is nothing to say.
  std::vector<passes::Apart> apart = {};
};

struct TensorSpec {
  DType dtype = DType::f32;
  Dims sizes;
  Dims strides;
};

// Columns of a packed weight that come from one constant, as seen in
// PackSource; `data` is resolved when packing.
struct PackPiece {
  Tensor tensor;  // View of a parameter, any strides; [K, N] in a product.
};

// A weight to pack, identified by its pieces (tensor identity and view).
struct PackedWeight {
  std::string key;
  std::vector<PackPiece> pieces;
  // Each piece is a matrix of its own, packed behind the last one; else they
  // stand side by side in one.
  bool batched = false;
  // Not 0: the one piece is a [features, channels, 3, 3], transformed for tiles
  // of this size (see program/winograd.h); depth and columns say nothing.
  int64_t winograd_tile = 0;
  // Of f32 matrices that are not batched; others are packed as they are.
  WeightCoding coding;
  int64_t depth = 0;
  int64_t columns = 0;
};

struct Program {
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  std::vector<Tensor> constants;
  std::vector<PackedWeight> packed;
  std::vector<TensorSpec> inputs;
  // Input of the program that is graph placeholder number i (non-tensor
  // arguments are baked into the code and take no input).
  std::vector<int32_t> input_of_placeholder;

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
  };
  std::vector<Output> outputs;
  Value result;

  // Inputs that the steps write. Right where no other input, and no constant,
  // shares their memory.
  std::vector<int32_t> written;
  // Buffers that a failed call needs to undo what it wrote: theirs to the end.
  std::vector<int32_t> kept;

  int64_t arena_bytes = 0;

  std::string str() const;  // A line per step and buffer, for dumps.
};

}  // namespace fxjit::program
