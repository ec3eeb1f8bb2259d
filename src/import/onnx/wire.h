// The wire format of protocol buffers, as far as ONNX files use it: a cursor
// over the bytes of one message. Nothing is copied; spans point into the
// caller's bytes. Malformed bytes are a UserError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fxjit::onnx {

using Bytes = std::span<const std::byte>;

// A field of a message: its number and what the wire says of its value.
struct WireField {
  enum class Type : uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

  uint32_t number = 0;
  Type type = Type::varint;
  uint64_t word = 0;  // What a varint, fixed64 or fixed32 holds.
  Bytes bytes;        // What a field of bytes holds.

  // The value as the field's type in the schema; UserError where the wire has
  // another kind of value.
  int64_t integer() const;
  float real() const;
  std::string_view text() const;
  Bytes message() const;

  // Appends the elements of a repeated field, packed or one alone.
  void append_integers(std::vector<int64_t>& values) const;
  void append_reals(std::vector<float>& values) const;
};

class WireReader {
 public:
  explicit WireReader(Bytes bytes) : bytes_(bytes) {}

  // The next field; false at the end. UserError for what is cut off, for a
  // varint of more than ten bytes, field number 0, and groups.
  bool next(WireField& field);

 private:
  uint64_t fixed(size_t size);

  Bytes bytes_;
};

// Elements of packed bytes: varints of any number, checked.
std::vector<int64_t> unpack_varints(Bytes bytes);

}  // namespace fxjit::onnx
