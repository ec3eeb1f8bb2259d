// Integer and boolean primitives on vectors. Used by body.cpp only.
#pragma once

#include <llvm/ADT/ArrayRef.h>

#include "fxjit/scalar_body.h"
#include "jit/emit/vector_builder.h"

namespace fxjit::jit {

// Null when integers have no such primitive. Arithmetic wraps; dividing by zero
// divides by one.
Value* emit_integer(VectorBuilder& b, Prim prim, llvm::ArrayRef<Value*> args,
                    bool is_unsigned);

// The same for i1 values: sums are or, products and, as C's on bool.
Value* emit_boolean(VectorBuilder& b, Prim prim, llvm::ArrayRef<Value*> args);

}  // namespace fxjit::jit
