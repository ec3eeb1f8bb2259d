// The code skeletons: an overload of emit() for each kind of form fills an
// empty function of the type Form::Fn, returns included. The call's data are
// the step's arguments.
#pragma once

#include "jit/emit/vector_builder.h"
#include "src/program/attention/form.h"
#include "src/program/columns/form.h"
#include "src/program/driver/form.h"
#include "src/program/integers/form.h"
#include "src/program/resampling/form.h"
#include "src/program/rows/form.h"
#include "src/program/tiles/form.h"
#include "src/program/windows/form.h"
#include "src/program/winograd/form.h"

namespace fxjit::jit {

// Elementwise loops, row reductions and everything built of them (softmax,
// norms), one row after the other.
void emit(VectorBuilder& b, const program::RowForm& form);

// Reductions over other dims than the innermost, a block of columns at a time,
// without any horizontal operation.
void emit(VectorBuilder& b, const program::ColumnForm& form);

// Contractions: register tiles over packed panels, with the epilogue applied
// while the sums are in registers or in the first-level cache. See
// program/tiles/run.h for what calls them, weights/panels.h for the layout.
void emit(VectorBuilder& b, const program::TileForm& form);

// Products of 8-bit integers with exact sums: see program/integers/form.h.
void emit(VectorBuilder& b, const program::IntegerForm& form);

// Winograd convolutions: see program/winograd/shape.h for the blocks, layouts
// and tasks. The call's data are program::winograd_numbers(). Parts become
// private functions of the same module, prefixed with the function's name.
void emit(VectorBuilder& b, const program::WinogradForm& form);

// Windows that move over planes: see program/windows/step.h.
void emit(VectorBuilder& b, const program::WindowForm& form);

// Images to other sizes: see program/resampling/step.h.
void emit(VectorBuilder& b, const program::ResampleForm& form);

// Attention: scaled dot products, masks, softmax and the weighted sum of values
// in one pass over blocks of queries. Knows no buffers and no sizes but depths.
//
// With `zero_rows` as torch's scaled_dot_product_attention on CPU: a query that
// sees no key (every score minus infinity, be it by an additive or a boolean
// mask) gives zeros; without, as a softmax followed by a product: NaN. A
// boolean mask adds 0 or minus infinity, so a NaN score of a hidden key still
// makes its query's row NaN; `causal` drops the scores themselves. A NaN value
// of a hidden key gives NaN unless the key is never looked at, which only
// `causal` makes possible.
void emit(VectorBuilder& b, const program::AttentionForm& form);

// A program's driver: calls of the kernels of its steps, one after the other.
void emit(VectorBuilder& b, const program::DriverForm& form);

}  // namespace fxjit::jit
