// What a row of the table of ops states about its op beside its functions: the
// order and the owner of results' memory, the roles of arguments, what a
// compiled program has code for. Capture, the compiler and the importers read
// it and never compare with an op's name (tests/structure checks that).
//
// The rules of memory are those of torch 2.13; tests/ops/layouts_test.cpp and
// tests/ops/aliasing_test.cpp compare every row with torch.
#pragma once

#include <cstdint>
#include <string_view>

namespace fxjit::ops {

struct OpCall;

// The order in memory of a result's dims. "Contiguous" is row-major order;
// "channels last" has dim 1 innermost. "First" is the first tensor among the
// arguments.
enum class Layout : uint8_t {
  // As `elementwise` for Lowering::scalar, else as `stated`.
  by_lowering,
  // As the row's shape rule, or the calls that the op is composed of, say.
  stated,
  // Contiguous.
  plain,
  // As torch's loop over all tensors of the call orders dims (loop_order).
  elementwise,
  // Like `elementwise`, with the tensors in reverse order.
  backwards,
  // In the order of the first tensor.
  first,
  // Channels last if the first tensor is [N, C, H, W] and channels last, else
  // contiguous.
  image,
  // Like `image`, also for [N, C, D, H, W].
  volume,
  // Like `image`, for [N, C, L].
  line,
  // Like `volume`, but as stated if the first tensor is not channels last.
  padded,
  // Convolutions: channels last if the image [N, C, H, W] or its filter is, or
  // if the filter of [N, C, L] is; else contiguous.
  filtered,
  // Channels last if all tensors are.
  joined,
  // Column-major matrices.
  columns,
  // As torch's loop over the tensor and its index tensors orders dims.
  picked,
  // In the call's memory format.
  asked,
};

// Whether results of an op share memory with its arguments. "First" is the
// first tensor among the arguments. Where a rule says "if", results have memory
// of their own in all other calls.
enum class Aliasing : uint8_t {
  // As `written` for Purity::mutates, `always` for Lowering::view, `strides`
  // for Lowering::reshape, `never` for all others of the library, `composed`
  // for those of users that are composed of calls.
  by_lowering,
  // Each result has memory of its own.
  never,
  // Every result is a view of the first tensor.
  always,
  // Like `always`, but the offset counts from the start of the first tensor's
  // storage and not from its first element (as_strided).
  places,
  // The result is the first tensor, which the call writes.
  written,
  // The result is the first tensor if that has the wanted dtype and no copy is
  // asked for.
  same_type,
  // The result is the first tensor if that is not complex.
  real,
  // The result is a view of the first tensor if its strides allow the wanted
  // shape (reshape).
  strides,
  // The result is the first tensor if that has the wanted memory format.
  format,
  // The result is the first tensor if the op does nothing: dropout in
  // evaluation, or with probability 0.
  inactive,
  // Result i is a view of tensor i.
  each,
  // Indexing. A tensor indexed by numbers, slices and None gives a view; by
  // tensors, lists or bools it gives memory of its own. A sequence gives the
  // item itself.
  item,
  // einsum: the result is a view of the operand if there is one operand only
  // and no dim of it is summed.
  operand,
  // diff: the result is the first tensor if that has no elements to subtract.
  empty,
  // The results share memory with each other, but with no argument.
  together,
  // The calls that the op is composed of decide.
  composed,
};

// Which tensors an op that writes its first argument refuses among the others,
// as torch does: loops that read what they have written give results that
// depend on their order.
enum class Overlap : uint8_t {
  partial,  // Those that are a part of the written one, but not the whole.
  any,      // Those that share memory with it.
  beside,   // None, but no two elements of the written one may share a place.
  ignored,  // None: the order of the loop does not count, or torch does not
            // ask.
};

// Into which type a number is converted to become an element.
enum class Conversion : uint8_t {
  stored,    // In the type itself.
  computed,  // In the type in which torch computes: half types as float32.
  cast,      // Half types as float64: what they lack becomes infinite.
};

// Parameters whose numbers become elements: one that the result's dtype does
// not hold is an error, as in torch.
struct ConvertedNumbers {
  std::string_view parameters;  // Separated by blanks.
  Conversion conversion = Conversion::stored;
};

// The operands of a product as places in the schema: left [..., M, K] times
// right [..., K, N].
struct ProductRoles {
  int left = 0;
  int right = 1;
  int added = -1;  // Added to the product; -1: nothing is.
  // Factors: added * beta + product * alpha; -1: they are 1.
  int beta = -1;
  int alpha = -1;
  bool right_by_column = false;  // Right is [N, K], as linear layers have it.
};

enum class GatherKind : uint8_t {
  none,
  rows,      // The rows of a matrix, one for each index.
  slices,    // Slices along the dim that an argument names.
  elements,  // An index for each element of the result.
};

// The operands of Lowering::gather, as places in the schema.
struct GatherRoles {
  GatherKind kind = GatherKind::none;
  int table = 0;
  int index = 1;
  int dim = -1;  // Of slices and elements.
};

// For which calls of an op a compiled program has native code. Any other call
// with a result that is not empty is a step that runs the eager function.
// tests/compile/ops_test.cpp checks every row.
enum class NativeCalls : uint8_t {
  all,
  // All products of f32 and the half types; of f64, i8, u8 and i16 those that
  // are products of matrices; none of other integers.
  products,
  // Calls on f32 and the half types.
  single,
  // Calls on tensors with dims, if floats are summed in their own type and
  // integers in i64.
  sums,
  // All calls but integers divided by a tensor, where a zero is an error.
  quotients,
  // Calls with indices that have dims, on tensors that are not empty.
  elements,
};

// Which routine of our own a compiled program may have for calls (see
// program::CallCode); shapes and types decide whether it has.
enum class RoutineKind : uint8_t { none, running_sums, copies, recurrence };

// For an op whose result is its first argument with some elements replaced:
// which elements these are.
enum class UpdateKind : uint8_t {
  none,
  entries,   // Those that the index tensors in the second argument pick.
  slices,    // Slices along the dim argument 1, picked by the index argument 2.
  elements,  // The same with an index for each element.
  view,      // Those that a view with given strides and offset shows.
};

// How the sizes of a result follow from the arguments. Elementwise ops need no
// rule: their sizes broadcast.
enum class SizeKind : uint8_t {
  unsaid,    // Nothing is known.
  written,   // The arguments list the elements themselves.
  same,      // Those of the first argument.
  joined,    // Those of a list of tensors, joined along a dim (cat).
  inserted,  // Those of the first argument, with a 1 inserted at a dim.
  reshaped,  // An argument lists them; one may be -1.
  listed,    // An argument lists them.
  permuted,  // Those of the first argument, in the order of an argument.
};
struct SizeRule {
  SizeKind kind = SizeKind::unsaid;
  int argument = 0;  // The list or the dim, as a place in the schema.
};

// The defaults hold for most ops.
struct OpFacts {
  Layout layout = Layout::by_lowering;
  // In place of `layout`, where it depends on the arguments.
  Layout (*layout_of)(const OpCall&) = nullptr;
  Aliasing aliasing = Aliasing::by_lowering;
  Overlap overlap = Overlap::partial;
  ConvertedNumbers numbers = {};
  ProductRoles product = {};
  GatherRoles gather = {};
  NativeCalls native = NativeCalls::all;
  RoutineKind routine = RoutineKind::none;
  UpdateKind update = UpdateKind::none;
  SizeRule sizes = {};
  // The result is rounded to its type even where more is computed in a wider
  // one; other results of half types may stay f32 up to the end of a loop.
  bool rounds = false;
  // The result has the elements of this argument, in the shape and type of the
  // first; -1: of none.
  int copied = -1;
  // The result is plain and follows from the sizes of the first argument.
  bool of_sizes = false;
  // A constant result would take the place of a smaller constant: it is folded
  // once patterns have seen the call.
  bool widens = false;
  // The elements of the result are whatever its memory held.
  bool undetermined = false;
  // Floating-point operations of a call, where its lowering does not tell.
  double (*flops)(const OpCall&) = nullptr;
  // For an op that writes its first argument: the op that gives the written
  // value from the leading arguments that it has.
  const char* pure = nullptr;
};

}  // namespace fxjit::ops
