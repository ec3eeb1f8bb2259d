// Polynomials with whole coefficients over atoms (numbered unknowns), in a
// normal form: equal polynomials are equal vectors. RuntimeError where a
// coefficient does not fit 64 bits.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

namespace fxjit::sizes {

// a / b, rounded down; b is not 0.
int64_t floor_quotient(int64_t a, int64_t b);

// factor * product of atoms, which are sorted and may repeat.
struct Term {
  std::vector<int> atoms;
  int64_t factor = 0;
  auto operator<=>(const Term&) const = default;
};

// A sum of terms, sorted by their atoms, none with the factor 0.
using Polynomial = std::vector<Term>;

Polynomial constant(int64_t number);
Polynomial unknown(int atom);
// a + factor * b.
Polynomial sum(const Polynomial& a, const Polynomial& b, int64_t factor = 1);
Polynomial product(const Polynomial& a, const Polynomial& b);
// The number, if there are no atoms.
std::optional<int64_t> as_constant(const Polynomial& p);
// p / q where q is one term that divides all terms of p.
std::optional<Polynomial> exact_quotient(const Polynomial& p,
                                         const Polynomial& q);

// What is known of a value; nothing: no bound.
struct Bounds {
  std::optional<int64_t> least, most;
};
// Of p, from those of its atoms (by number).
Bounds bounds(const Polynomial& p, const std::vector<Bounds>& atoms);

}  // namespace fxjit::sizes
