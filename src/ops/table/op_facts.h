// Facts about ops that are read below the op table, by traces, the compiler and
// who imports models: which arguments are factors, tables and indices, what
// code there is for a call, where sizes come from. Like
// src/ops/table/aliasing.h a theory for all rows: a row that is not named there
// has the defaults. Whoever needs to know more about an op adds a fact here and
// never compares with its name (tests/structure holds that).
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

// For which calls a compiled program has code of its own; for others the eager
// function is a step of it, unless the result is empty.
// tests/compile/ops_test.cpp holds every row to it.
enum class NativeCalls : uint8_t {
  all,
  products,   // Of doubles and of integers of 8 and 16 bits where a product is
              // one of matrices; not of other integers.
  single,     // Of f32 and the half types.
  sums,       // Of tensors with dims, floats in their own type, others in i64.
  quotients,  // Not integers by a tensor: a zero among them is an error.
  elements,   // Of tensors with elements, by indices with dims.
};

// Which routine of our own a compiled program may have for calls (see
// program::CallCode); shapes and types decide whether it has.
enum class RoutineKind : uint8_t { none, running_sums, copies, recurrence };

// Ops that copy their first argument but for some elements.
enum class UpdateKind : uint8_t {
  none,
  entries,   // Those that the tensors of the second argument index.
  slices,    // Along the dim of the second argument, by indices in the third.
  elements,  // Likewise, an index for each element.
  view,      // Those that a view with strides and offset shows.
};

// How the sizes of a result follow from arguments. Those of scalar bodies
// broadcast and need no rule.
enum class SizeKind : uint8_t {
  unsaid,
  written,   // The elements are arguments.
  same,      // The first argument's.
  joined,    // Those of a list of tensors, side by side along a dim.
  inserted,  // The first argument's, and 1 at the dim that an argument names.
  reshaped,  // As an argument lists them; one may follow from the others.
  listed,    // As an argument lists them.
  permuted,  // The first argument's, in the order that an argument lists.
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
