#include "src/import/pt2/size_formula.h"

#include <algorithm>

namespace fxjit::import {
namespace {

using Kind = SizeFormula::Kind;
using Number = std::optional<int64_t>;

// Python's: rounded down.
int64_t floor_div(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

Number power(int64_t base, int64_t exponent) {
  if (exponent < 0) return std::nullopt;
  int64_t result = 1;
  while (exponent > 0) {
    if (exponent % 2 == 1 && __builtin_mul_overflow(result, base, &result))
      return std::nullopt;
    exponent /= 2;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base))
      return std::nullopt;
  }
  return result;
}

Number divide(Kind kind, int64_t a, int64_t b) {
  // -1 apart: the quotient of the least number has no place in 64 bits.
  if (b == 0) return std::nullopt;
  if (b == -1) {
    int64_t negated = 0;
    if (kind == Kind::mod) return 0;
    if (__builtin_sub_overflow(int64_t{0}, a, &negated)) return std::nullopt;
    return negated;
  }
  const int64_t quotient = floor_div(a, b);
  return kind == Kind::div ? quotient : a - quotient * b;
}

Number apply(Kind kind, int64_t a, int64_t b) {
  int64_t result = 0;
  bool beyond = false;
  switch (kind) {
    case Kind::add:
      beyond = __builtin_add_overflow(a, b, &result);
      break;
    case Kind::sub:
      beyond = __builtin_sub_overflow(a, b, &result);
      break;
    case Kind::mul:
      beyond = __builtin_mul_overflow(a, b, &result);
      break;
    case Kind::div:
    case Kind::mod:
      return divide(kind, a, b);
    case Kind::pow:
      return power(a, b);
    case Kind::max:
      return std::max(a, b);
    case Kind::min:
      return std::min(a, b);
    case Kind::eq:
      return a == b;
    case Kind::ne:
      return a != b;
    case Kind::lt:
      return a < b;
    case Kind::le:
      return a <= b;
    case Kind::gt:
      return a > b;
    case Kind::ge:
      return a >= b;
    case Kind::both:
      return a != 0 && b != 0;
    case Kind::either:
      return a != 0 || b != 0;
    case Kind::inverse:
      return a == 0;
    case Kind::number:
    case Kind::name:
      return std::nullopt;
  }
  return beyond ? Number() : Number(result);
}

std::string_view sign_of(Kind kind) {
  constexpr std::pair<Kind, std::string_view> kSigns[] = {
      {Kind::add, " + "},    {Kind::sub, " - "},    {Kind::mul, "*"},
      {Kind::div, "//"},     {Kind::mod, " % "},    {Kind::pow, "**"},
      {Kind::eq, " == "},    {Kind::ne, " != "},    {Kind::lt, " < "},
      {Kind::le, " <= "},    {Kind::gt, " > "},     {Kind::ge, " >= "},
      {Kind::both, " and "}, {Kind::either, " or "}};
  for (const auto& [known, sign] : kSigns)
    if (known == kind) return sign;
  return "";
}

}  // namespace

Number SizeFormula::evaluate(const Lookup& lookup) const {
  std::vector<Number> values;
  values.reserve(nodes_.size());
  for (const Node& node : nodes_) {
    if (node.kind == Kind::number) {
      values.emplace_back(node.number);
    } else if (node.kind == Kind::name) {
      values.push_back(lookup(names_[static_cast<size_t>(node.number)]));
    } else {
      const Number a = values[static_cast<size_t>(node.left)];
      const Number b =
          node.right < 0 ? Number(0) : values[static_cast<size_t>(node.right)];
      values.push_back(a && b ? apply(node.kind, *a, *b) : Number());
    }
  }
  return values.empty() ? Number() : values.back();
}

std::optional<std::string> SizeFormula::symbol() const {
  if (nodes_.size() != 1 || nodes_[0].kind != Kind::name) return std::nullopt;
  return names_.front();
}

std::string SizeFormula::str() const {
  std::vector<std::string> texts;
  const auto operand = [&](int place) {
    const auto index = static_cast<size_t>(place);
    const Kind kind = nodes_[index].kind;
    const bool plain = kind == Kind::number || kind == Kind::name ||
                       kind == Kind::max || kind == Kind::min;
    // Each text is an operand once.
    std::string text = std::move(texts[index]);
    return plain ? text : "(" + text + ")";
  };
  for (const Node& node : nodes_) {
    if (node.kind == Kind::number)
      texts.push_back(std::to_string(node.number));
    else if (node.kind == Kind::name)
      texts.push_back(names_[static_cast<size_t>(node.number)]);
    else if (node.kind == Kind::inverse)
      texts.push_back("not " + operand(node.left));
    else if (node.kind == Kind::max || node.kind == Kind::min)
      texts.push_back((node.kind == Kind::max ? "max(" : "min(") +
                      texts[static_cast<size_t>(node.left)] + ", " +
                      texts[static_cast<size_t>(node.right)] + ")");
    else
      texts.push_back(operand(node.left) + std::string(sign_of(node.kind)) +
                      operand(node.right));
  }
  return texts.empty() ? "" : texts.back();
}

}  // namespace fxjit::import
