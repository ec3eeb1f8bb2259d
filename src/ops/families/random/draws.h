// Filling tensors with random numbers as torch's CPU kernels do, element by
// element in row-major order. Used by the random families.
#pragma once

#include <cstdint>

#include "fxjit/op.h"
#include "fxjit/random.h"

namespace fxjit::ops {

// The generator that a call names by its argument `generator`, or the default
// one. TypeError for another object.
Generator& generator_of(const OpCall& call);

// Each needs a contiguous `out`. Floats only, but for bernoulli, geometric and
// integers, which fill any type.
void fill_uniform(const Tensor& out, double from, double to,
                  Generator::Draw& draw);
void fill_normal(const Tensor& out, double mean, double std,
                 Generator::Draw& draw);
void fill_exponential(const Tensor& out, double lambda, Generator::Draw& draw);
void fill_cauchy(const Tensor& out, double median, double sigma,
                 Generator::Draw& draw);
void fill_log_normal(const Tensor& out, double mean, double std,
                     Generator::Draw& draw);
void fill_geometric(const Tensor& out, double p, Generator::Draw& draw);
void fill_bernoulli(const Tensor& out, double p, Generator::Draw& draw);
// A probability for each element, contiguous and of the sizes of `out`.
void fill_bernoulli(const Tensor& out, const Tensor& p, Generator::Draw& draw);

// `base` plus integers below `range`; 0 stands for 2^64.
void fill_integers(const Tensor& out, uint64_t range, int64_t base,
                   Generator::Draw& draw);
// The end of the integers that the type holds exactly, from 0 on; all of them.
uint64_t greatest_integer(DType dtype);
void fill_whole_range(const Tensor& out, Generator::Draw& draw);

// Positions drawn from each row of weights, [rows, weights] to [rows, samples].
void fill_multinomial(const Tensor& out, const Tensor& weights,
                      bool replacement, Generator::Draw& draw);
// A permutation of 0 ... n - 1.
void fill_permutation(const Tensor& out, Generator::Draw& draw);

}  // namespace fxjit::ops
