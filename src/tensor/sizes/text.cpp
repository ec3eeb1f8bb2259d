// Expressions and guards of a SizeTable as people write them.
#include "src/tensor/sizes/table.h"

namespace fxjit {
namespace {

using sizes::Polynomial;
using sizes::Term;

const char* symbol_of(SizeGuard::Relation relation) {
  switch (relation) {
    case SizeGuard::Relation::zero:
      return " == ";
    case SizeGuard::Relation::negative:
      return " < ";
    case SizeGuard::Relation::not_zero:
      return " != ";
    case SizeGuard::Relation::not_negative:
      return " >= ";
    case SizeGuard::Relation::decided:
      break;
  }
  return "";
}

SizeGuard::Relation mirrored(SizeGuard::Relation relation) {
  switch (relation) {
    case SizeGuard::Relation::negative:
      return SizeGuard::Relation::not_negative;
    case SizeGuard::Relation::not_negative:
      return SizeGuard::Relation::negative;
    default:
      return relation;
  }
}

}  // namespace

std::string SizeTable::text(Size size) const {
  return size.is_number() ? std::to_string(size.word())
                          : text(polynomial(size));
}

std::string SizeTable::text(const Atom& atom) const {
  if (atom.dividend < 0) return atom.name;
  const auto side = [&](int expression) {
    return "(" + text(expressions_[static_cast<size_t>(expression)]) + ")";
  };
  return side(atom.dividend) + " / " + side(atom.divisor);
}

std::string SizeTable::text(const Polynomial& p) const {
  std::string text;
  for (auto term = p.rbegin(); term != p.rend(); ++term) {
    const bool minus = term->factor < 0;
    const uint64_t factor = minus ? -static_cast<uint64_t>(term->factor)
                                  : static_cast<uint64_t>(term->factor);
    text += text.empty() ? (minus ? "-" : "") : (minus ? " - " : " + ");
    if (factor != 1 || term->atoms.empty()) text += std::to_string(factor);
    for (size_t i = 0; i < term->atoms.size(); ++i)
      text += (i > 0 || factor != 1 ? "*" : "") +
              this->text(atoms_[static_cast<size_t>(term->atoms[i])]);
  }
  return text.empty() ? "0" : text;
}

// With the constant on the right: "length >= 513" for length - 513 >= 0.
std::string SizeTable::relation_text(const Polynomial& p,
                                     SizeGuard::Relation relation) const {
  Polynomial left = p;
  int64_t number = 0;
  if (!left.empty() && left.front().atoms.empty()) {
    number = left.front().factor;
    left.erase(left.begin());
  }
  const bool falls = !left.empty() && left.back().factor < 0;
  // -x + 5 < 0 is x > 5, which is x >= 6.
  if (falls && number != INT64_MIN) {
    left = sizes::sum({}, left, -1);
    if (relation == SizeGuard::Relation::negative ||
        relation == SizeGuard::Relation::not_negative) {
      relation = mirrored(relation);
      number = -(number + 1);
    } else {
      number = -number;
    }
  }
  const std::string right =
      number == INT64_MIN ? "9223372036854775808" : std::to_string(-number);
  return text(left) + symbol_of(relation) + right;
}

}  // namespace fxjit
