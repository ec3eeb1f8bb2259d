// Code for attention: scaled dot products, masks, softmax and the weighted sum
// of values in one pass over blocks of queries. Called where programs are
// turned into modules; knows no buffers and no sizes but depths.
#pragma once

#include "jit/emit/vector_builder.h"
#include "src/program/attention/form.h"

namespace fxjit::jit {

// Fills an empty function, a program::AttentionFn.
//
// With `zero_rows` as torch's scaled_dot_product_attention on CPU: a query that
// sees no key (every score minus infinity, be it by an additive or a boolean
// mask) gives zeros; without, as a softmax followed by a product: NaN. A
// boolean mask adds 0 or minus infinity, so a NaN score of a hidden key still
// makes its query's row NaN; `causal` drops the scores themselves. A NaN value
// of a hidden key gives NaN unless the key is never looked at, which only
// `causal` makes possible.
void emit(VectorBuilder& b, const program::AttentionForm& form);

}  // namespace fxjit::jit
