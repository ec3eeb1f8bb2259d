// Size: a whole number that a shape is made of. While a graph is traced for a
// kind of inputs, it may be named instead: an expression of named sizes that
// knows its present value (src/tensor/sizes). Everywhere else it is a number.
//
// Arithmetic is exact: what does not fit 64 bits, and a division by zero, is a
// RuntimeError. A comparison of named sizes holds for the whole kind, or
// becomes a guard of it; conversion to a built-in integer specialises the kind
// to the present value. So code that knows nothing of names is right, for fewer
// sizes.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

namespace fxjit {

class Size;

namespace sizes {
// The halves that are not inline, for what is rare: `a` or `b` is named, or a
// number that does not fit.
[[gnu::cold]] Size add(Size a, Size b);
[[gnu::cold]] Size subtract(Size a, Size b);
[[gnu::cold]] Size multiply(Size a, Size b);
[[gnu::cold]] Size divide(Size a, Size b);
[[gnu::cold]] Size remainder(Size a, Size b);
[[gnu::cold]] bool equal(Size a, Size b);
[[gnu::cold]] bool less(Size a, Size b);
[[gnu::cold]] int64_t specialise(Size a);
int64_t present_value(Size a);
[[gnu::cold]] int64_t without_name(int64_t number);
}  // namespace sizes

class Size {
 public:
  constexpr Size() = default;
  template <std::integral T>
  constexpr Size(T number) : word_(static_cast<int64_t>(number)) {  // NOLINT
    if constexpr (sizeof(T) == sizeof(int64_t))
      if (looks_named(word_)) sizes::without_name(word_);
  }
  // What word() gave.
  static constexpr Size from_word(int64_t word) {
    Size size;
    size.word_ = word;
    return size;
  }

  // The number, or what stands for the expression: equal expressions of one
  // kind have equal words.
  constexpr int64_t word() const { return word_; }
  constexpr bool is_number() const { return !looks_named(word_); }
  operator int64_t() const {  // NOLINT
    return is_number() ? word_ : sizes::specialise(*this);
  }
  // Names have words of these upper halves, far from any size or stride;
  // numbers that have them are refused as too large.
  static constexpr int64_t kNamed = -1513908505;
  static constexpr bool looks_named(int64_t word) {
    return (word >> 32) == kNamed;
  }

  friend Size operator+(Size a, Size b) {
    int64_t sum = 0;
    return numbers(a, b) && !__builtin_add_overflow(a.word_, b.word_, &sum)
               ? Size(sum)
               : sizes::add(a, b);
  }
  friend Size operator-(Size a, Size b) {
    int64_t difference = 0;
    return numbers(a, b) &&
                   !__builtin_sub_overflow(a.word_, b.word_, &difference)
               ? Size(difference)
               : sizes::subtract(a, b);
  }
  friend Size operator*(Size a, Size b) {
    int64_t product = 0;
    return numbers(a, b) && !__builtin_mul_overflow(a.word_, b.word_, &product)
               ? Size(product)
               : sizes::multiply(a, b);
  }
  // Towards zero, as in C++.
  friend Size operator/(Size a, Size b) {
    return numbers(a, b) && b.word_ > 0 ? Size(a.word_ / b.word_)
                                        : sizes::divide(a, b);
  }
  friend Size operator%(Size a, Size b) {
    return numbers(a, b) && b.word_ > 0 ? Size(a.word_ % b.word_)
                                        : sizes::remainder(a, b);
  }
  friend bool operator==(Size a, Size b) {
    return a.word_ == b.word_ || (!numbers(a, b) && sizes::equal(a, b));
  }
  friend bool operator<(Size a, Size b) {
    return numbers(a, b) ? a.word_ < b.word_ : sizes::less(a, b);
  }
  friend bool operator>(Size a, Size b) { return b < a; }
  friend bool operator<=(Size a, Size b) { return !(b < a); }
  friend bool operator>=(Size a, Size b) { return !(a < b); }

  // With built-in integers, for which both conversions would do.
  template <std::integral T>
  friend Size operator+(Size a, T b) {
    return a + Size(b);
  }
  template <std::integral T>
  friend Size operator+(T a, Size b) {
    return Size(a) + b;
  }
  template <std::integral T>
  friend Size operator-(Size a, T b) {
    return a - Size(b);
  }
  template <std::integral T>
  friend Size operator-(T a, Size b) {
    return Size(a) - b;
  }
  template <std::integral T>
  friend Size operator*(Size a, T b) {
    return a * Size(b);
  }
  template <std::integral T>
  friend Size operator*(T a, Size b) {
    return Size(a) * b;
  }
  template <std::integral T>
  friend Size operator/(Size a, T b) {
    return a / Size(b);
  }
  template <std::integral T>
  friend Size operator/(T a, Size b) {
    return Size(a) / b;
  }
  template <std::integral T>
  friend Size operator%(Size a, T b) {
    return a % Size(b);
  }
  template <std::integral T>
  friend Size operator%(T a, Size b) {
    return Size(a) % b;
  }
  template <std::integral T>
  friend bool operator==(Size a, T b) {
    return a == Size(b);
  }
  template <std::integral T>
  friend bool operator<(Size a, T b) {
    return a < Size(b);
  }
  template <std::integral T>
  friend bool operator<(T a, Size b) {
    return Size(a) < b;
  }
  template <std::integral T>
  friend bool operator>(Size a, T b) {
    return Size(b) < a;
  }
  template <std::integral T>
  friend bool operator>(T a, Size b) {
    return b < Size(a);
  }
  template <std::integral T>
  friend bool operator<=(Size a, T b) {
    return !(Size(b) < a);
  }
  template <std::integral T>
  friend bool operator<=(T a, Size b) {
    return !(b < Size(a));
  }
  template <std::integral T>
  friend bool operator>=(Size a, T b) {
    return !(a < Size(b));
  }
  template <std::integral T>
  friend bool operator>=(T a, Size b) {
    return !(Size(a) < b);
  }

  friend Size operator-(Size a) { return Size(0) - a; }
  Size& operator+=(Size b) { return *this = *this + b; }
  Size& operator-=(Size b) { return *this = *this - b; }
  Size& operator*=(Size b) { return *this = *this * b; }
  Size& operator/=(Size b) { return *this = *this / b; }
  Size& operator%=(Size b) { return *this = *this % b; }
  Size& operator++() { return *this = *this + 1; }
  Size& operator--() { return *this = *this - 1; }

 private:
  static constexpr bool numbers(Size a, Size b) {
    return a.is_number() && b.is_number();
  }

  int64_t word_ = 0;
};

// The number, or the expression: "4*batch + 1".
std::string to_string(Size size);
std::ostream& operator<<(std::ostream& out, Size size);

// As the builtin of that name; a product with a name always fits.
bool mul_overflow(Size a, Size b, Size* product);

// As std::max and std::min.
inline Size larger(Size a, Size b) { return a < b ? b : a; }
inline Size smaller(Size a, Size b) { return b < a ? b : a; }

// The present value, without a guard: for choices that change no result.
inline int64_t hint(Size size) {
  return size.is_number() ? size.word() : sizes::present_value(size);
}

}  // namespace fxjit

template <>
struct std::hash<fxjit::Size> {
  size_t operator()(fxjit::Size size) const {
    return std::hash<int64_t>()(size.word());
  }
};
