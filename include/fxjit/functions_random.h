// torch's random functions, part of fxjit/fxjit.h. They draw from
// default_generator (fxjit/random.h), in the order in which they are called, by
// the interpreter and in compiled modules alike. Numbers fill a tensor in
// row-major order.
//
// While tracing, a call without a proxy among its arguments runs at once, as
// torch.fx has it: what it drew is a constant of the graph.
#pragma once

#include "fxjit/functions.h"

namespace fxjit {

// In [0, 1); of mean 0 and deviation 1. `size` is a list of ints.
Value rand(const Arg& size, const Arg& dtype = None);
Value randn(const Arg& size, const Arg& dtype = None);
Value rand_like(const Arg& input, const Arg& dtype = None);
Value randn_like(const Arg& input, const Arg& dtype = None);
// Integers from `low` up to `high`, which is not one of them.
Value randint(const Arg& low, const Arg& high, const Arg& size,
              const Arg& dtype = None);
Value randint_like(const Arg& input, const Arg& low, const Arg& high,
                   const Arg& dtype = None);
// 0 ... n - 1 in random order.
Value randperm(const Arg& n, const Arg& dtype = None);
// `mean` and `std` are numbers, with `size`, or one of them at least a tensor.
Value normal(const Arg& mean, const Arg& std, const Arg& size = None);
// 1 with the chance that `input` holds at this place, or `p`.
Value bernoulli(const Arg& input, const Arg& p = None);
// Positions in each row of weights.
Value multinomial(const Arg& input, const Arg& num_samples,
                  const Arg& replacement = None);

}  // namespace fxjit
