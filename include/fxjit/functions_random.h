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

// Numbers in [0, 1) (rand), and normal numbers of mean 0 and deviation 1
// (randn). `size` is a list of ints; the dtype is float32 when None. The
// `_like` functions take shape and dtype of the input.
Value rand(const Arg& size, const Arg& dtype = None);
Value randn(const Arg& size, const Arg& dtype = None);
Value rand_like(const Arg& input, const Arg& dtype = None);
Value randn_like(const Arg& input, const Arg& dtype = None);
// Integers in [low, high), int64 when `dtype` is None.
Value randint(const Arg& low, const Arg& high, const Arg& size,
              const Arg& dtype = None);
Value randint_like(const Arg& input, const Arg& low, const Arg& high,
                   const Arg& dtype = None);
// The integers 0 ... n - 1 in random order: [n], int64 when `dtype` is None.
Value randperm(const Arg& n, const Arg& dtype = None);
// Normal numbers. `mean` and `std` are two numbers, with a `size`; or at least
// one of them is a tensor, with the mean or deviation of each element.
Value normal(const Arg& mean, const Arg& std, const Arg& size = None);
// 1 or 0 for each element. The probability of a 1 is the input's element or, if
// given, the number `p`.
Value bernoulli(const Arg& input, const Arg& p = None);
// Draws `num_samples` positions from each row of `input`, whose elements are
// weights: [rows, weights] to int64 [rows, num_samples], or without rows.
// Without `replacement` no position is drawn twice from a row.
Value multinomial(const Arg& input, const Arg& num_samples,
                  const Arg& replacement = None);

}  // namespace fxjit
