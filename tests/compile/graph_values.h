// What a random graph asks of its values before it calls what jumps, or what
// has no order, with them.
#pragma once

#include <functional>

#include "fxjit/tensor.h"

namespace fxjit::testing {

bool is_float(const Tensor& t);
// Whether `holds` for every finite element.
bool all_of(const Tensor& t, const std::function<bool(double)>& holds);
bool far_from_zero(const Tensor& t);
// No element plus `shift` is near an integer.
bool far_from_integers(const Tensor& t, double shift);
// No two elements are near each other.
bool all_apart(const Tensor& t);
// No two elements that meet when broadcast are near each other.
bool apart(const Tensor& x, const Tensor& y);

}  // namespace fxjit::testing
