// The step that no skeleton computes. It specifies what is computed; the bind
// stage makes its code, a routine, a primitive or an eager function.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "fxjit/cpu_level.h"
#include "fxjit/value.h"
#include "src/program/steps/call_spec.h"
#include "src/program/steps/step_code.h"
#include "src/program/tiles/step.h"

namespace fxjit::fx {
enum class ControlFlow : uint8_t;
}

namespace fxjit::program {

// A primitive of oneDNN in place of a generated tile loop, with the operands of
// `tile`. If oneDNN has no fast code for the sizes, the tile loop is generated
// after all.
struct LibraryProduct {
  TileStep tile;

  friend bool operator==(const LibraryProduct&,
                         const LibraryProduct&) = default;
};

// Packs the right factor of a product while the program runs, because it is an
// activation and not a weight. Operands: the matrices, the packed result.
struct RunTimePack {
  DType dtype = DType::f32;  // Or i16, in pairs.
  int64_t batch = 1;
  int64_t batch_stride = 0;
  int64_t depth = 0;
  int64_t columns = 0;
  int64_t depth_stride = 0;
  int64_t column_stride = 0;

  friend bool operator==(const RunTimePack&, const RunTimePack&) = default;
};

// A call whose result is a copy of its first argument with some elements
// replaced, where the result may take the argument's memory. Only those
// elements are touched. Operands: the tensors of the call, then memory for the
// elements that were there before.
struct UpdateSpec {
  CallSpec call;           // Without results.
  TensorSpec overwritten;  // The elements that it overwrites.

  friend bool operator==(const UpdateSpec&, const UpdateSpec&) = default;
};

// Copies a written input's new value into it. Operands: the new value, the
// input.
struct WriteBack {
  TensorSpec value, input;

  friend bool operator==(const WriteBack&, const WriteBack&) = default;
};

// Runs other programs: the branch that a predicate chooses, or the body of a
// loop again and again. Operands: the tensors of `pred`, `carried`, `xs` and
// `operands`, in this order, then `results`.
struct ControlCall {
  struct Body {
    std::string name;      // "true", "body".
    int32_t program = -1;  // Among Program::bodies.
    // For each input of the program, the number of the body's argument that it
    // is.
    std::vector<int32_t> arguments;
    // Set for a branch that fails whenever it is taken. `program` is then that
    // of the other branch.
    bool fails = false;

    friend bool operator==(const Body&, const Body&) = default;
  };
  fx::ControlFlow kind{};
  std::vector<Body> bodies;
  Value pred;  // Meta tensors, also below; operands may be numbers.
  ValueList carried;
  ValueList xs;
  ValueList operands;
  ValueList results;

  friend bool operator==(const ControlCall& a, const ControlCall& b);
};

// A step that is computed by extern code. It holds one of the specifications
// above.
struct ExternStep {
  using What = std::variant<CallSpec, LibraryProduct, RunTimePack, UpdateSpec,
                            WriteBack, ControlCall>;
  What what;
  // See StepPlan: the work of the call that is computed.
  double flops = 0;
  double bytes = 0;
  // How many of the operands, the last ones, are results. All others are only
  // read.
  int32_t results = 1;

  size_t written() const { return static_cast<size_t>(results); }
  static constexpr const char* kName = "routine";
  static constexpr bool kWritesAnywhere = false;
  std::vector<InPlacePair> in_place() const { return {}; }
  // The work alone: the step's code says its tasks and its scratch.
  StepPlan plan(CpuLevel) const { return {.flops = flops, .bytes = bytes}; }

  friend bool operator==(const ExternStep&, const ExternStep&) = default;
};

template <typename V>
void fields(Is<CallSpec> auto& s, V& v) {
  v("code", s.code), v("op", s.op), v("args", s.args);
  v("results", s.results), v("tail", s.tail);
}
template <typename V>
void fields(Is<LibraryProduct> auto& s, V& v) {
  v("tile", s.tile);
}
template <typename V>
void fields(Is<RunTimePack> auto& s, V& v) {
  v("dtype", s.dtype), v("batch", s.batch), v("batch_stride", s.batch_stride), v("depth", s.depth);
  v("columns", s.columns), v("depth_stride", s.depth_stride);
  v("column_stride", s.column_stride);
}
template <typename V>
void fields(Is<UpdateSpec> auto& s, V& v) {
  v("call", s.call), v("overwritten", s.overwritten);
}
template <typename V>
void fields(Is<WriteBack> auto& s, V& v) {
  v("value", s.value), v("input", s.input);
}
template <typename V>
void fields(Is<ControlCall::Body> auto& s, V& v) {
  v("name", s.name), v("program", s.program), v("arguments", s.arguments);
  v("fails", s.fails);
}
template <typename V>
void fields(Is<ControlCall> auto& s, V& v) {
  v("kind", s.kind), v("bodies", s.bodies), v("pred", s.pred);
  v("carried", s.carried), v("xs", s.xs), v("operands", s.operands);
  v("results", s.results);
}
template <typename V>
void fields(Is<ExternStep> auto& s, V& v) {
  v("what", s.what), v("flops", s.flops), v("bytes", s.bytes);
  v("results", s.results);
}

}  // namespace fxjit::program
