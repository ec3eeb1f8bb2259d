#include "fxjit/size.h"

#include <algorithm>
#include <array>
#include <ostream>

#include "fxjit/error.h"
#include "src/tensor/sizes/decision.h"
#include "src/tensor/sizes/table.h"

namespace fxjit {
namespace {

bool are_numbers(Size a, Size b) { return a.is_number() && b.is_number(); }

SizeTable& table() {
  SizeTable* const current = SizeTable::current();
  FXJIT_CHECK(current, "sizes: a named size outside of its kind's trace");
  return *current;
}

[[noreturn]] void does_not_fit(Size a, const char* operation, Size b) {
  throw RuntimeError("integer overflow: " + std::to_string(a.word()) + " " +
                     operation + " " + std::to_string(b.word()) +
                     " does not fit 64 bits");
}

}  // namespace

namespace sizes {

Size add(Size a, Size b) {
  if (are_numbers(a, b)) does_not_fit(a, "+", b);
  return table().sum(a, b, 1);
}

Size subtract(Size a, Size b) {
  if (are_numbers(a, b)) does_not_fit(a, "-", b);
  return table().sum(a, b, -1);
}

Size multiply(Size a, Size b) {
  if (are_numbers(a, b)) does_not_fit(a, "*", b);
  return table().product(a, b);
}

Size divide(Size a, Size b) {
  if (!are_numbers(a, b)) return table().quotient(a, b);
  if (b.word() == 0 || (a.word() == INT64_MIN && b.word() == -1))
    does_not_fit(a, "/", b);
  return a.word() / b.word();
}

Size remainder(Size a, Size b) {
  if (!are_numbers(a, b)) return a - table().quotient(a, b) * b;
  if (b.word() == 0) does_not_fit(a, "%", b);
  return b.word() == -1 ? 0 : a.word() % b.word();
}

bool equal(Size a, Size b) { return table().is_zero(a - b); }

bool less(Size a, Size b) { return table().is_negative(a - b); }

int64_t specialise(Size a) { return table().specialise(a); }

int64_t present_value(Size a) { return table().present(a); }

int64_t without_name(int64_t number) {
  throw RuntimeError("integer overflow: " + std::to_string(number) +
                     " is not supported as a size");
}

}  // namespace sizes

int64_t decided(const char* what, SizeDecision decide,
                std::initializer_list<Size> sizes) {
  for (const Size size : sizes)
    if (!size.is_number()) return table().decided(what, decide, sizes);
  std::array<int64_t, 8> numbers{};
  FXJIT_CHECK(sizes.size() <= numbers.size(), "decided: too many sizes");
  std::copy(sizes.begin(), sizes.end(), numbers.begin());
  return decide({numbers.data(), sizes.size()});
}

std::string to_string(Size size) {
  return size.is_number() ? std::to_string(size.word()) : table().text(size);
}

std::ostream& operator<<(std::ostream& out, Size size) {
  return out << to_string(size);
}

bool mul_overflow(Size a, Size b, Size* product) {
  int64_t result = 0;
  if (!are_numbers(a, b)) {
    *product = a * b;
    return false;
  }
  if (__builtin_mul_overflow(a.word(), b.word(), &result) ||
      Size::looks_named(result))
    return true;
  *product = result;
  return false;
}

}  // namespace fxjit
