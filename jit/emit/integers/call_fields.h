// What all ways of multiplying integers read of their call. A load that a way
// does not need is gone once its code is optimised. Used by the integer
// skeleton only.
#pragma once

#include <cstddef>

#include "jit/emit/kernel_function.h"
#include "src/program/integers/form.h"

namespace fxjit::jit {

struct IntegerFields {
  // At the kernel's beginning.
  explicit IntegerFields(VectorBuilder& b)
      : lhs(call_pointer(b, offsetof(program::IntegerCall, lhs))),
        weights(call_pointer(b, offsetof(program::IntegerCall, weights))),
        column_sums(
            call_pointer(b, offsetof(program::IntegerCall, column_sums))),
        row_starts(call_pointer(b, offsetof(program::IntegerCall, row_starts))),
        groups(call_number(b, offsetof(program::IntegerCall, groups))),
        quads(call_number(b, offsetof(program::IntegerCall, quads))),
        column_factor(b.ir().CreateTrunc(
            call_number(b, offsetof(program::IntegerCall, column_factor)),
            b.i32())) {}

  Value *lhs, *weights, *column_sums, *row_starts, *groups, *quads;
  Value* column_factor;  // i32.
};

}  // namespace fxjit::jit
