// Facts about ops that the compiler reads below the op table: which arguments
// are factors, tables and indices, and what a kernel is made of. Like
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

// For which types a compiled program has code of its own; for others the eager
// kernel is a step of it. tests/compile/ops_test.cpp holds every row to it.
enum class NativeTypes : uint8_t {
  all,
  products,  // All but integers; doubles where a product is one of matrices.
  single,    // f32 and the half types.
};

struct OpFacts {
  ProductRoles product = {};
  GatherRoles gather = {};
  NativeTypes native = NativeTypes::all;
  // The result is rounded to its type even where more is computed in a wider
  // one; other results of half types may stay f32 up to the end of a loop.
  bool rounds = false;
  // The result has the elements of this argument, in the shape and type of the
  // first; -1: of none.
  int copied = -1;
  // Floating-point operations of a call, where its lowering does not tell.
  double (*flops)(const OpCall&) = nullptr;
  // For an op that writes its first argument: the op that gives the written
  // value from the leading arguments that it has.
  const char* pure = nullptr;
};

const OpFacts& facts_of(const Op& op);

}  // namespace fxjit::ops
