// Helpers of decompositions: computing the half types in float32, and dims as
// arguments. Used by the families that are composed of other ops; arguments may
// be proxies.
#pragma once

#include "fxjit/functions.h"
#include "src/ops/families/shared/structured.h"

namespace fxjit::ops {

// A call of the op of this canonical name.
Value call_row(std::string_view name, ValueList args, Kwargs kwargs = {});

// `value` as `dtype`, and float32 where that is a half type.
Value widened(const Value& value, DType dtype);
// Back to `dtype` if `wide`, the result of `widened`, is of another type.
Value narrowed(const Value& result, const Value& wide, DType dtype);
Value cast_to(const Value& value, DType dtype);

// beta or alpha as addmm and its like multiply tensors of `dtype` by them: as
// one of its numbers, cut off towards zero where that is an integer type.
Value factor_of(const Value& factor, DType dtype);

// "none", "mean" or "sum": the argument `reduction` of a loss, or what torch
// had before it, size_average and reduce. ValueError for another text, but for
// "batchmean" where that is allowed.
std::string reduction_of(const OpCall& call, bool batchmean = false);
std::string checked_reduction(const Value& reduction, bool batchmean = false);
// The loss, its mean, or its sum.
Value reduced_loss(const Value& loss, std::string_view how);

// A reshape in memory of its own, even where strides allow a view.
Value reshaped_copy(const Value& value, const Dims& sizes);

// Softmax along `dim` in which a row of -inf gives zeros.
Value safe_softmax(const Value& scores, int64_t dim);

// The inverse of the root of the mean square along `axes`. The call's fourth
// argument is what is added to the square, the type's epsilon where it is None.
Value inverse_rms(const OpCall& call, const Value& wide, const Dims& axes);

// Axes as an argument that means exactly these (an empty list means all dims).
Value axes_value(const Dims& axes);
// Number of elements along `axes`.
Size count_along(const Tensor& input, const Dims& axes);

}  // namespace fxjit::ops
