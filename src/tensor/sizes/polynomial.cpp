#include "src/tensor/sizes/polynomial.h"

#include <algorithm>
#include <iterator>

#include "fxjit/error.h"

namespace fxjit::sizes {
namespace {

[[noreturn]] void too_large() {
  throw RuntimeError("integer overflow in an expression of named sizes");
}

int64_t plus(int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) too_large();
  return result;
}

int64_t times(int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) too_large();
  return result;
}

Polynomial normal_form(Polynomial terms) {
  std::ranges::sort(terms, {}, &Term::atoms);
  Polynomial result;
  for (Term& term : terms) {
    if (!result.empty() && result.back().atoms == term.atoms)
      result.back().factor = plus(result.back().factor, term.factor);
    else
      result.push_back(std::move(term));
    if (result.back().factor == 0) result.pop_back();
  }
  return result;
}

// `p` in unknowns that are not negative: each atom with a least value is that
// value plus one of them.
Polynomial above_least(const Polynomial& p, const std::vector<Bounds>& atoms) {
  Polynomial result;
  for (const Term& term : p) {
    Polynomial expanded = constant(term.factor);
    for (const int atom : term.atoms) {
      const int64_t least = atoms[static_cast<size_t>(atom)].least.value_or(0);
      expanded = product(expanded, sum(unknown(atom), constant(least)));
    }
    result = sum(result, expanded);
  }
  return result;
}

// The largest value of a term's atoms, as above_least leaves them.
std::optional<int64_t> most_of(const Term& term,
                               const std::vector<Bounds>& atoms) {
  int64_t most = 1;
  for (const int atom : term.atoms) {
    const Bounds& known = atoms[static_cast<size_t>(atom)];
    int64_t span = 0;
    if (!known.most ||
        __builtin_sub_overflow(*known.most, known.least.value_or(0), &span) ||
        __builtin_mul_overflow(most, span, &most))
      return std::nullopt;
  }
  return most;
}

}  // namespace

int64_t floor_quotient(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

Polynomial constant(int64_t number) {
  return number == 0 ? Polynomial() : Polynomial{{{}, number}};
}

Polynomial unknown(int atom) { return {{{atom}, 1}}; }

Polynomial sum(const Polynomial& a, const Polynomial& b, int64_t factor) {
  Polynomial terms = a;
  for (const Term& term : b)
    terms.push_back({term.atoms, times(term.factor, factor)});
  return normal_form(std::move(terms));
}

Polynomial product(const Polynomial& a, const Polynomial& b) {
  Polynomial terms;
  for (const Term& x : a)
    for (const Term& y : b) {
      Term term{{}, times(x.factor, y.factor)};
      std::ranges::merge(x.atoms, y.atoms, std::back_inserter(term.atoms));
      terms.push_back(std::move(term));
    }
  return normal_form(std::move(terms));
}

std::optional<int64_t> as_constant(const Polynomial& p) {
  if (p.empty()) return 0;
  if (p.size() == 1 && p[0].atoms.empty()) return p[0].factor;
  return std::nullopt;
}

std::optional<Polynomial> exact_quotient(const Polynomial& p,
                                         const Polynomial& q) {
  if (q.size() != 1) return std::nullopt;
  const Term& by = q[0];
  Polynomial result;
  for (const Term& term : p) {
    if (by.factor == -1 || term.factor % by.factor != 0 ||
        !std::ranges::includes(term.atoms, by.atoms))
      return std::nullopt;
    Term part{{}, term.factor / by.factor};
    std::ranges::set_difference(term.atoms, by.atoms,
                                std::back_inserter(part.atoms));
    result.push_back(std::move(part));
  }
  return normal_form(std::move(result));
}

Bounds bounds(const Polynomial& p, const std::vector<Bounds>& atoms) {
  for (const Term& term : p)
    for (const int atom : term.atoms)
      if (!atoms[static_cast<size_t>(atom)].least) return {};
  int64_t least = 0, most = 0;
  bool has_least = true, has_most = true;
  for (const Term& term : above_least(p, atoms)) {
    if (term.atoms.empty()) {
      has_least &= !__builtin_add_overflow(least, term.factor, &least);
      has_most &= !__builtin_add_overflow(most, term.factor, &most);
      continue;
    }
    const bool falls = term.factor < 0;
    bool& has = falls ? has_least : has_most;
    int64_t& end = falls ? least : most;
    const std::optional<int64_t> span = most_of(term, atoms);
    int64_t reach = 0;
    has = has && span && !__builtin_mul_overflow(*span, term.factor, &reach) &&
          !__builtin_add_overflow(end, reach, &end);
  }
  Bounds result;
  if (has_least) result.least = least;
  if (has_most) result.most = most;
  return result;
}

}  // namespace fxjit::sizes
