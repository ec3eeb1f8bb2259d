// protobuf's wire format, as far as fields can be told apart and copied.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "fxjit/error.h"

namespace fxjit::python::wire {

enum class Kind : uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

[[noreturn]] inline void refuse() {
  throw ValueError("the message is damaged");
}

// What is left of a message. Reads beyond its end are refused.
class Reader {
 public:
  explicit Reader(std::string_view rest) : rest_(rest) {}

  bool done() const { return rest_.empty(); }
  const char* at() const { return rest_.data(); }

  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<uint8_t>(take(1).front());
      value |= uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    refuse();
  }

  std::string_view take(uint64_t size) {
    if (size > rest_.size()) refuse();
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  template <typename T>
  T fixed() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }

 private:
  std::string_view rest_;
};

struct Field {
  uint64_t number;
  Kind kind;
  std::string_view whole;    // With its tag.
  std::string_view payload;  // Without tag and, of bytes, length.
};

inline Field read_field(Reader& from) {
  const char* const begin = from.at();
  const uint64_t tag = from.varint();
  Field field{tag >> 3, static_cast<Kind>(tag & 7), {}, {}};
  const char* const value = from.at();
  switch (field.kind) {
    case Kind::varint:
      from.varint();
      field.payload = {value, static_cast<size_t>(from.at() - value)};
      break;
    case Kind::fixed64:
      field.payload = from.take(8);
      break;
    case Kind::fixed32:
      field.payload = from.take(4);
      break;
    case Kind::bytes:
      field.payload = from.take(from.varint());
      break;
    default:
      refuse();
  }
  field.whole = {begin, static_cast<size_t>(from.at() - begin)};
  return field;
}

inline void append_varint(std::string& to, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    to += static_cast<char>((value & 0x7F) | 0x80);
  to += static_cast<char>(value);
}

inline void append_bytes_field(std::string& to, uint64_t number,
                               std::string_view payload) {
  append_varint(to, number << 3 | static_cast<uint64_t>(Kind::bytes));
  append_varint(to, payload.size());
  to += payload;
}

}  // namespace fxjit::python::wire
