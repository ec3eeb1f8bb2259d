// Facts about ops that capture, the compiler and the importers need: which
// arguments are factors, tables and indices, which calls have native code,
// where sizes come from. A row that is not named in op_facts.cpp has the
// defaults below. Code outside of src/ops never compares with an op's name;
// whoever needs to know more adds a fact here (tests/structure checks that).
#pragma once

#include "fxjit/op.h"

namespace fxjit::ops {

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

struct OpFacts {
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

const OpFacts& facts_of(const Op& op);

// Whether a method gives what follows from sizes, by a name that torch.fx's
// proxies of parameters know.
bool tells_sizes(const Spelling& method);

}  // namespace fxjit::ops
