// Special functions of mathematics in double precision, for real arguments.
// They are right to a few units in the last place of double.
#pragma once

namespace fxjit::ops {

double lgamma_of(double x);
double digamma_of(double x);
double polygamma_of(double n, double x);  // `n` is a whole number.
double zeta_of(double x, double q);       // Hurwitz's.
double erfc_of(double x);
double erfinv_of(double x);
double erfcx_of(double x);  // exp(x * x) * erfc(x)
// The distribution function of the normal distribution, its inverse and its
// logarithm.
double ndtr_of(double x);
double ndtri_of(double p);
double log_ndtr_of(double x);
// Modified Bessel functions of the first kind; with `e` times exp(-|x|).
double i0_of(double x);
double i0e_of(double x);
double i1_of(double x);
double i1e_of(double x);
// The regularised lower and upper incomplete gamma functions.
double igamma_of(double a, double x);
double igammac_of(double a, double x);

}  // namespace fxjit::ops
