#include "src/ops/python/format.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>

#include "src/ops/python/items.h"
#include "src/ops/python/numbers.h"

namespace fxjit::ops::python {
namespace {

// What stands between "%" and the letter.
struct Spec {
  bool left = false, plus = false, blank = false, alternate = false,
       zeros = false;
  int64_t width = 0;
  std::optional<int64_t> precision;
  char letter = 0;
};

// Widths that no text of a message has; larger ones are refused.
constexpr int64_t kMostColumns = 1 << 20;

// As Python's print writes a value.
std::string str(const Value& value) {
  return value.is_string() ? std::string(value.as_string()) : repr(value);
}

// Characters beyond ASCII as escapes.
std::string ascii(const Value& value) {
  const std::string text = repr(value);
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      result += text[i++];
      continue;
    }
    const int more = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : 1;
    uint32_t code = byte & (0x3Fu >> more);
    for (++i; i < text.size() && (text[i] & 0xC0) == 0x80; ++i)
      code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3F);
    std::array<char, 12> escape;
    std::snprintf(escape.data(), escape.size(),
                  code < 0x100     ? "\\x%02x"
                  : code < 0x10000 ? "\\u%04x"
                                   : "\\U%08x",
                  code);
    result += escape.data();
  }
  return result;
}

// `sign` and prefix stand before the zeros that fill up.
std::string padded(const Spec& spec, std::string prefix, std::string body) {
  const int64_t used = length(prefix) + length(body);
  const auto fill =
      static_cast<size_t>(std::max<int64_t>(spec.width - used, 0));
  if (spec.left) return prefix + body + std::string(fill, ' ');
  if (spec.zeros) return prefix + std::string(fill, '0') + body;
  return std::string(fill, ' ') + prefix + body;
}

std::string sign_of(const Spec& spec, bool negative) {
  return negative ? "-" : spec.plus ? "+" : spec.blank ? " " : "";
}

std::string as_text(Spec spec, const Value& value) {
  std::string text = spec.letter == 's'   ? str(value)
                     : spec.letter == 'r' ? repr(value)
                                          : ascii(value);
  if (spec.precision && *spec.precision < length(text))
    text = getitem(text, Value::slice(None, *spec.precision)).as_string();
  spec.zeros = false;
  return padded(spec, "", std::move(text));
}

int64_t whole_number(char letter, const Value& value) {
  if (value.is_int() || value.is_bool()) return value.as_int();
  const bool decimal = letter == 'd' || letter == 'i' || letter == 'u';
  if (!decimal || !value.is_float())
    throw TypeError(std::string("%") + letter +
                    " format: " + (decimal ? "a real number" : "an integer") +
                    " is required, not " + name_of(value));
  const double number = value.as_double();
  if (std::isnan(number))
    throw ValueError("cannot convert float NaN to integer");
  if (std::isinf(number))
    throw OverflowError("cannot convert float infinity to integer");
  if (number < -0x1p63 || number >= 0x1p63) throw_too_large();
  return static_cast<int64_t>(number);
}

std::string as_integer(const Spec& spec, const Value& value) {
  const int64_t number = whole_number(spec.letter, value);
  const uint64_t size = number < 0 ? -static_cast<uint64_t>(number)
                                   : static_cast<uint64_t>(number);
  const int base = spec.letter == 'o'                         ? 8
                   : spec.letter == 'x' || spec.letter == 'X' ? 16
                                                              : 10;
  std::array<char, 24> buffer;
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), size, base);
  std::string digits(buffer.data(), end.ptr);
  const auto least = static_cast<size_t>(spec.precision.value_or(0));
  if (digits.size() < least) digits.insert(0, least - digits.size(), '0');
  std::string prefix = sign_of(spec, number < 0);
  if (spec.alternate && base != 10) prefix += base == 8 ? "0o" : "0x";
  if (spec.letter == 'X') {
    for (char& c : digits) c = static_cast<char>(std::toupper(c));
    if (spec.alternate) prefix.back() = 'X';
  }
  return padded(spec, prefix, digits);
}

std::string as_float(const Spec& spec, const Value& value) {
  if (!value.is_number())
    throw TypeError("must be real number, not " + name_of(value));
  const double number = value.as_double();
  const std::string form =
      std::string(spec.alternate ? "%#.*" : "%.*") + spec.letter;
  const int precision = static_cast<int>(spec.precision.value_or(6));
  const double size = std::isnan(number) ? std::abs(number) : std::fabs(number);
  const int count = std::snprintf(nullptr, 0, form.c_str(), precision, size);
  std::string digits(static_cast<size_t>(count), '\0');
  std::snprintf(digits.data(), digits.size() + 1, form.c_str(), precision,
                size);
  const bool negative = std::signbit(number) && !std::isnan(number);
  return padded(spec, sign_of(spec, negative), digits);
}

std::string as_character(Spec spec, const Value& value) {
  spec.zeros = false;
  if (value.is_string() && length(value) == 1)
    return padded(spec, "", std::string(value.as_string()));
  if (!value.is_int() && !value.is_bool())
    throw TypeError("%c requires int or char");
  const int64_t code = value.as_int();
  if (code < 0 || code >= 0x110000)
    throw OverflowError("%c arg not in range(0x110000)");
  std::string text;
  const auto tail = [&](int shift) {
    return static_cast<char>(0x80 | ((code >> shift) & 0x3F));
  };
  if (code < 0x80) {
    text = {static_cast<char>(code)};
  } else if (code < 0x800) {
    text = {static_cast<char>(0xC0 | code >> 6), tail(0)};
  } else if (code < 0x10000) {
    text = {static_cast<char>(0xE0 | code >> 12), tail(6), tail(0)};
  } else {
    text = {static_cast<char>(0xF0 | code >> 18), tail(12), tail(6), tail(0)};
  }
  return padded(spec, "", std::move(text));
}

class Formatter {
 public:
  Formatter(std::string_view text, const Value& values)
      : text_(text), values_(values) {}

  std::string run() {
    std::string result;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c != '%')
        result += c;
      else
        result += conversion();
    }
    const bool by_key =
        is_iterable(values_) && !values_.is_tuple() && !values_.is_string();
    if (!by_key && taken_ < given())
      throw TypeError("not all arguments converted during string formatting");
    return result;
  }

 private:
  size_t given() const { return values_.is_tuple() ? values_.size() : 1; }

  char next() {
    if (at_ == text_.size()) throw ValueError("incomplete format");
    return text_[at_++];
  }

  std::string conversion() {
    const std::optional<Value> entry = keyed_entry();
    const Spec spec = parse_spec();
    if (spec.letter == '%') return "%";
    const Value value = entry ? *entry : next_value();
    switch (spec.letter) {
      case 's':
      case 'r':
      case 'a':
        return as_text(spec, value);
      case 'd':
      case 'i':
      case 'u':
      case 'o':
      case 'x':
      case 'X':
        return as_integer(spec, value);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        return as_float(spec, value);
      case 'c':
        return as_character(spec, value);
    }
    throw_unknown(spec.letter);
  }

  // "%(key)s" takes an entry of a dict.
  std::optional<Value> keyed_entry() {
    if (at_ == text_.size() || text_[at_] != '(') return std::nullopt;
    if (!values_.is_dict()) throw TypeError("format requires a mapping");
    const size_t begin = ++at_;
    for (int depth = 1; depth > 0; ++at_) {
      if (at_ == text_.size()) throw ValueError("incomplete format key");
      depth += text_[at_] == '(' ? 1 : text_[at_] == ')' ? -1 : 0;
    }
    return getitem(values_, text_.substr(begin, at_ - begin - 1));
  }

  Spec parse_spec() {
    Spec spec;
    char c = next();
    for (;; c = next()) {
      if (c == '-')
        spec.left = true;
      else if (c == '+')
        spec.plus = true;
      else if (c == ' ')
        spec.blank = true;
      else if (c == '#')
        spec.alternate = true;
      else if (c == '0')
        spec.zeros = true;
      else
        break;
    }
    spec.width = parse_number(c, "width too big");
    if (spec.width < 0) {
      spec.left = true;
      spec.width = -spec.width;
    }
    if (c == '.') {
      c = next();
      spec.precision =
          std::max<int64_t>(parse_number(c, "precision too big"), 0);
    }
    if (c == 'h' || c == 'l' || c == 'L') c = next();
    spec.letter = c;
    return spec;
  }

  // Digits, or "*" for the next value; `c` is the character behind.
  int64_t parse_number(char& c, const char* too_big) {
    int64_t number = 0;
    if (c == '*') {
      const Value value = next_value();
      if (!value.is_int() && !value.is_bool()) throw TypeError("* wants int");
      number = value.as_int();
      c = next();
    } else {
      for (; c >= '0' && c <= '9' && number <= kMostColumns; c = next())
        number = number * 10 + (c - '0');
    }
    if (number > kMostColumns || number < -kMostColumns)
      throw ValueError(too_big);
    return number;
  }

  Value next_value() {
    if (taken_ == given())
      throw TypeError("not enough arguments for format string");
    const size_t i = taken_++;
    return values_.is_tuple() ? values_.at(i) : values_;
  }

  [[noreturn]] void throw_unknown(char letter) const {
    std::array<char, 4> code;
    std::snprintf(code.data(), code.size(), "%x",
                  static_cast<unsigned>(static_cast<unsigned char>(letter)));
    throw ValueError(std::string("unsupported format character '") + letter +
                     "' (0x" + code.data() + ") at index " +
                     std::to_string(length(text_.substr(0, at_)) - 1));
  }

  std::string_view text_;
  const Value& values_;
  size_t at_ = 0;
  size_t taken_ = 0;
};

}  // namespace

std::string format(std::string_view text, const Value& values) {
  return Formatter(text, values).run();
}

}  // namespace fxjit::ops::python
