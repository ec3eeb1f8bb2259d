// The values of a SizeTable's expressions for values of its names.
#include <algorithm>

#include "fxjit/error.h"
#include "src/tensor/sizes/table.h"

namespace fxjit {
namespace {

using Relation = SizeGuard::Relation;
using sizes::Polynomial;
using sizes::Term;

bool stands(Relation relation, int64_t value) {
  switch (relation) {
    case Relation::zero:
      return value == 0;
    case Relation::negative:
      return value < 0;
    case Relation::not_zero:
      return value != 0;
    case Relation::not_negative:
      return value >= 0;
    case Relation::decided:
      break;
  }
  return false;
}

}  // namespace

bool SizeTable::value_of(const Polynomial& p, std::span<const int64_t> atoms,
                         int64_t& value) const {
  value = 0;
  for (const Term& term : p) {
    int64_t product = term.factor;
    for (const int atom : term.atoms)
      if (__builtin_mul_overflow(product, atoms[static_cast<size_t>(atom)],
                                 &product))
        return false;
    if (__builtin_add_overflow(value, product, &value)) return false;
  }
  return true;
}

bool SizeTable::evaluate(std::span<const int64_t> names,
                         std::vector<int64_t>& values) const {
  return find_values(names, values) &&
         std::ranges::all_of(guards_, [&](const SizeGuard& guard) {
           return holds(guard, values);
         });
}

const SizeGuard* SizeTable::failing(std::span<const int64_t> names) const {
  std::vector<int64_t> values;
  if (!find_values(names, values)) return nullptr;
  const auto found = std::ranges::find_if(
      guards_, [&](const SizeGuard& guard) { return !holds(guard, values); });
  return found == guards_.end() ? nullptr : &*found;
}

bool SizeTable::find_values(std::span<const int64_t> names,
                            std::vector<int64_t>& values) const {
  FXJIT_CHECK(names.size() == names_.size(),
              "sizes: not a value for each name");
  std::vector<int64_t> atoms(atoms_.size());
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] < names_[i].least || names[i] > names_[i].most) return false;
    atoms[static_cast<size_t>(names_[i].atom)] = names[i];
  }
  values.assign(expressions_.size(), 0);
  size_t next = 0;  // Atom; its operands stand before what is made of it.
  for (size_t i = 0; i < expressions_.size(); ++i) {
    for (const Term& term : expressions_[i])
      for (const int atom : term.atoms)
        for (; next <= static_cast<size_t>(atom); ++next) {
          const Atom& made = atoms_[next];
          if (made.dividend < 0) continue;
          const int64_t by = values[static_cast<size_t>(made.divisor)];
          if (by <= 0) return false;
          atoms[next] = sizes::floor_quotient(
              values[static_cast<size_t>(made.dividend)], by);
        }
    if (!value_of(expressions_[i], atoms, values[i])) return false;
  }
  return true;
}

bool SizeTable::holds(const SizeGuard& guard,
                      std::span<const int64_t> values) const {
  if (guard.relation == Relation::decided) {
    std::vector<int64_t> numbers;
    for (const Size size : guard.operands)
      numbers.push_back(value(size, values));
    return guard.decide(numbers) == guard.result;
  }
  return stands(guard.relation, values[static_cast<size_t>(guard.expression)]);
}

int64_t SizeTable::value(Size size, std::span<const int64_t> values) const {
  if (size.is_number()) return size.word();
  polynomial(size);  // Of this table.
  return values[index_of(size)];
}

}  // namespace fxjit
