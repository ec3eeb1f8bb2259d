// The numbers of tensors of any type, in double precision.
#pragma once

#include <vector>

#include "fxjit/tensor.h"

namespace fxjit::checking {

// In the order of the dims. Of complex tensors real and imaginary parts in
// turns.
std::vector<double> numbers(const Tensor& t);

// The greatest finite one, without its sign; 0 where there is none.
double greatest_of(const std::vector<double>& values);

}  // namespace fxjit::checking
