// Steps: what a compiled program does, one after the other. Each kind is a loop
// skeleton with bodies as data; it names no op and no buffer, so equal steps
// share one kernel. Written by the planner (src/passes/plan), read by jit/emit.
//
// Strides are in elements of the operand's dtype; a stride of 0 broadcasts.
// Prim::index counts iteration dims in this order: outer, reduce, inner.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "fxjit/computed_by.h"
#include "fxjit/dims.h"
#include "fxjit/dtype.h"
#include "fxjit/error.h"
#include "fxjit/scalar_body.h"
#include "src/program/weight_format.h"

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

// out[b, m, n] = epilogue(sum_k lhs[b, m, k] * rhs[b, k, n], extras...), f32.
// lhs has k contiguous. rhs is packed in panels (see program/packing.h).
// Formats other than f32: at most one tile of rows, one batch.
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
  WeightFormat weights = WeightFormat::f32;
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
  enum class Kind : uint8_t {
    additive,  // score + value * mask, f32.
    boolean,   // score + minus infinity where false.
    keep,      // value where false.
    fill,      // value where true.
  };
  Kind kind = Kind::additive;
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

// A 3x3 convolution of stride 1 over channels-last f32 by Winograd's F(m x m, 3x3)
// (see program/winograd.h):
// out[n, y, x, o] = epilogue(sum of the window, extras...).
// The input has channels contiguous; what lies outside it counts as zeros. The
// batch of an access is the image, its row the pixel, its column the channel.
// Operands: input, packed weights, extras by slot from 1, outputs.
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

// A step's code: what to call, and what it finds in KernelCall::data.
struct StepCode {
  KernelFn kernel = nullptr;  // Null for extern steps.
  std::shared_ptr<const void> data;
};

// A step computed by code that is not generated: an eager kernel, a oneDNN
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

struct ExternStep {
  std::shared_ptr<const ExternKernel> kernel;
  // As in KernelPlan, by the call that the kernel computes.
  double flops = 0;
  double bytes = 0;
  // The last operands, as many, are results; all others are read.
  int32_t results = 1;
};

using StepBody =
    std::variant<RowStep, ColumnStep, TileStep, AttentionStep, WinogradStep,
                 ExternStep>;

// How a step's kernel is run, from sizes and CPU level alone.
struct KernelPlan {
  int64_t tasks = 1;
  int64_t grain = 1;  // Tasks that are worth handing to another thread.
  size_t scratch_bytes = 0;
  double flops = 0;
  double bytes = 0;  // Touched at least once.
};

// Text that is equal for equal steps: names kernels and keys caches.
std::string step_key(const RowStep& step);
std::string step_key(const ColumnStep& step);

}  // namespace fxjit::program
