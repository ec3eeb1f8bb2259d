// Steps: what a compiled program does, one after the other. Each kind is a loop
// skeleton with bodies as data; it names no op and no buffer, so equal steps
// share one kernel. Steps that no skeleton computes say which call they compute
// and which code does. All of it is plain data that can be compared. Written by
// the planner, read by jit/emit and src/bind.
//
// Strides are in elements of the operand's dtype; a stride of 0 broadcasts.
// Prim::index counts iteration dims in this order: outer, reduce, inner.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "fxjit/dims.h"
#include "fxjit/dtype.h"
#include "fxjit/scalar_body.h"
#include "src/passes/lowering/mask_kind.h"
#include "src/program/steps/call_spec.h"
#include "src/weights/format.h"

namespace fxjit::fx {
enum class ControlFlow : uint8_t;
}

namespace fxjit::program {

// How a kernel walks one operand of a row or column step.
struct Access {
  DType dtype = DType::f32;
  Dims outer;         // One stride per outer dim.
  Dims reduce;        // One stride per reduced dim (column steps only).
  int64_t inner = 1;  // Stride along the inner dim.
  // A gathered operand adds index * gather_stride to its address, where index
  // is the element of input `gather_slot` (an integer) for this row or, where
  // that input of a row step varies along the row, for each element; indices
  // outside [0, gather_limit) set the status and read row 0.
  int32_t gather_slot = -1;
  int64_t gather_stride = 0;
  int64_t gather_limit = 0;

  friend bool operator==(const Access&, const Access&) = default;
};

// For each point of `outer`, a row of `inner` elements. Reductions of the body
// run over the row. A result that is constant along the row may have an output
// access with inner stride 0 and is written once. Operands: inputs by slot,
// then outputs. With no outer dims and no reductions the row itself is split
// among tasks.
struct RowStep {
  Dims outer;
  int64_t inner = 1;
  std::vector<Access> inputs;
  std::vector<Access> outputs;
  ScalarBody body;
  // The order of a row's sums does not depend on how many rows there are.
  bool strict = false;

  friend bool operator==(const RowStep&, const RowStep&) = default;
};

// For each point of `outer` and each element of `inner` (contiguous where it
// pays), reductions of the body run over the points of `reduce`; instructions
// that depend on a reduction run once per element afterwards. All reductions
// are of the first level: none depends on another.
struct ColumnStep {
  Dims outer;
  Dims reduce;
  int64_t inner = 1;
  std::vector<Access> inputs;
  std::vector<Access> outputs;
  ScalarBody body;

  friend bool operator==(const ColumnStep&, const ColumnStep&) = default;
};

// An extra input or an output of a contraction's epilogue, f32 computations.
struct TileAccess {
  DType dtype = DType::f32;
  int64_t batch = 0;
  int64_t row = 0;
  int64_t column = 1;  // 0 or 1.

  friend bool operator==(const TileAccess&, const TileAccess&) = default;
};

// out[b, m, n] = epilogue(sum_k lhs[b, m, k] * rhs[b, k, n], extras...).
// lhs has k contiguous. rhs is packed in panels (see weights/panels.h).
// Formats other than f32: at most one tile of rows, one batch. The bind stage
// chooses the format, which depends on the numbers; a plan says f32.
// Operands: lhs, packed rhs, extras by slot from 1, outputs.
struct TileStep {
  int64_t batch = 1;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t depth = 0;
  int64_t lhs_batch = 0;
  int64_t lhs_row = 0;
  bool rhs_batched = false;  // One packed matrix per batch, or one for all.
  // Every sum is one chain in order of depth: a row's result does not depend on
  // how many rows are computed with it.
  bool strict = false;
  weights::Format weights = weights::Format::f32;
  // The types of lhs and of the sums; f32 is the only one that is made.
  DType lhs = DType::f32;
  DType sums = DType::f32;
  std::vector<TileAccess> extras;
  std::vector<TileAccess> outputs;
  ScalarBody epilogue;  // Input slot 0 is the sum.

  friend bool operator==(const TileStep&, const TileStep&) = default;
};

// Strides of one attention operand [outer, batch, head, row, depth]; depth
// stride 1.
struct HeadAccess {
  int64_t batch = 0;
  int64_t head = 0;
  int64_t row = 0;
  int64_t outer = 0;

  friend bool operator==(const HeadAccess&, const HeadAccess&) = default;
};

// What a tensor of masks does to the scores of attention.
struct AttentionMask {
  passes::MaskKind kind = passes::MaskKind::add;
  HeadAccess access;  // Row is the query.
  int64_t key_stride = 0;
  float value = 1;

  friend bool operator==(const AttentionMask&, const AttentionMask&) = default;
};

// out = softmax(q k^T * scale, masked) v per batch and head, f32; the scores of
// a block of queries are the only intermediate. Operands: q, k, v, masks, out.
// Masks are applied in order.
struct AttentionStep {
  int64_t outer = 1;
  int64_t batch = 1;
  int64_t heads = 1;
  int64_t queries = 0;
  int64_t keys = 0;
  int64_t depth = 0;        // Of q and k.
  int64_t value_depth = 0;  // Of v and out.
  HeadAccess q, k, v, out;
  std::vector<AttentionMask> masks;
  bool causal = false;    // Query i sees keys up to i.
  bool zero_rows = true;  // Queries that see no key: zeros, else NaN.
  float scale = 1;

  friend bool operator==(const AttentionStep&, const AttentionStep&) = default;
};

// A 3x3 convolution of stride 1 over channels-last f32 by Winograd's F(m x m,
// 3x3) (see program/winograd/winograd.h): out[n, y, x, o] = epilogue(sum of the
// window, extras...). The input has channels contiguous; what lies outside it
// counts as zeros. The batch of an access is the image, its row the pixel, its
// column the channel. Operands: input, packed weights, extras by slot from 1,
// outputs.
struct WinogradStep {
  int64_t batch = 1;
  int64_t height = 0;  // Of the input.
  int64_t width = 0;
  int64_t channels = 0;  // At least kWinogradChannels.
  int64_t out_height = 0;
  int64_t out_width = 0;
  int64_t features = 0;  // Channels of the result.
  int64_t pad_top = 0;
  int64_t pad_left = 0;
  int64_t input_batch = 0;  // Strides of the input.
  int64_t input_row = 0;
  int64_t input_column = 0;
  int64_t tile = 4;  // m: 2 or 4.
  std::vector<TileAccess> extras;
  std::vector<TileAccess> outputs;
  ScalarBody epilogue;  // Input slot 0 is the sum.

  friend bool operator==(const WinogradStep&, const WinogradStep&) = default;
};

// oneDNN in place of a generated tile loop, with the operands of `tile`. Where
// it has no fast code for the sizes, the tile loop is generated after all.
struct LibraryProduct {
  TileStep tile;

  friend bool operator==(const LibraryProduct&,
                         const LibraryProduct&) = default;
};

// Packs a product's right-hand side while the program runs, where it is an
// activation and not a weight. Operands: the matrices, the packed result.
struct RunTimePack {
  int64_t batch = 1;
  int64_t batch_stride = 0;
  int64_t depth = 0;
  int64_t columns = 0;
  int64_t depth_stride = 0;
  int64_t column_stride = 0;

  friend bool operator==(const RunTimePack&, const RunTimePack&) = default;
};

// A call that copies its first argument but for some elements, with that
// argument's memory as its result: it touches only these elements. Operands:
// the tensors of the call, then memory for the elements that were there before.
struct UpdateSpec {
  CallSpec call;           // Without results.
  TensorSpec overwritten;  // The elements that it overwrites.

  friend bool operator==(const UpdateSpec&, const UpdateSpec&) = default;
};

// Gives a written input its new value. Operands: the new value, the input.
struct WriteBack {
  TensorSpec value, input;

  friend bool operator==(const WriteBack&, const WriteBack&) = default;
};

// Runs programs of its own: the branch that a predicate chooses, or a body
// again and again. Operands: the tensors of `pred`, `carried`, `xs` and
// `operands`, in this order, then `results`.
struct ControlCall {
  struct Body {
    std::string name;      // "true", "body".
    int32_t program = -1;  // Among Program::bodies.
    // For each input of the program, the argument of the body that it is.
    std::vector<int32_t> arguments;
    // A branch that fails whenever it is taken; its program is another's.
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

// A step computed by code that is not generated.
struct ExternStep {
  using What = std::variant<CallSpec, LibraryProduct, RunTimePack, UpdateSpec,
                            WriteBack, ControlCall>;
  What what;
  // As in KernelPlan, by the call that is computed.
  double flops = 0;
  double bytes = 0;
  // The last operands, as many, are results; all others are read.
  int32_t results = 1;

  friend bool operator==(const ExternStep&, const ExternStep&) = default;
};

using StepBody = std::variant<RowStep, ColumnStep, TileStep, AttentionStep,
                              WinogradStep, ExternStep>;

// Text that is equal for equal steps: names kernels and keys caches.
std::string step_key(const RowStep& step);
std::string step_key(const ColumnStep& step);

}  // namespace fxjit::program
