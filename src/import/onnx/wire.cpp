#include "src/import/onnx/wire.h"

#include <bit>
#include <cstring>

#include "fxjit/error.h"

namespace fxjit::onnx {
namespace {

[[noreturn]] void fail_wire(const std::string& what) {
  throw UserError("[onnx] damaged or no ONNX: " + what);
}

uint64_t read_varint(Bytes& bytes) {
  constexpr size_t kLongest = 10;
  uint64_t value = 0;
  for (size_t i = 0; i < kLongest; ++i) {
    if (i == bytes.size()) fail_wire("a number is cut off");
    const auto byte = static_cast<uint64_t>(bytes[i]);
    // The tenth byte holds the last bit.
    if (i == kLongest - 1 && byte > 1) break;
    value |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      bytes = bytes.subspan(i + 1);
      return value;
    }
  }
  fail_wire("a number of more than 64 bits");
}

}  // namespace

uint64_t WireReader::fixed(size_t size) {
  if (bytes_.size() < size) fail_wire("a number is cut off");
  uint64_t value = 0;
  std::memcpy(&value, bytes_.data(), size);
  bytes_ = bytes_.subspan(size);
  return value;
}

bool WireReader::next(WireField& field) {
  if (bytes_.empty()) return false;
  const uint64_t tag = read_varint(bytes_);
  constexpr uint64_t kLargestNumber = (1u << 29) - 1;
  if (tag >> 3 == 0 || tag >> 3 > kLargestNumber)
    fail_wire("there is no field " + std::to_string(tag >> 3));
  field = {};
  field.number = static_cast<uint32_t>(tag >> 3);
  field.type = static_cast<WireField::Type>(tag & 7);
  switch (field.type) {
    case WireField::Type::varint:
      field.word = read_varint(bytes_);
      return true;
    case WireField::Type::fixed64:
      field.word = fixed(8);
      return true;
    case WireField::Type::fixed32:
      field.word = fixed(4);
      return true;
    case WireField::Type::bytes: {
      const uint64_t length = read_varint(bytes_);
      if (length > bytes_.size())
        fail_wire("field " + std::to_string(field.number) + " has " +
                  std::to_string(length) + " bytes, " +
                  std::to_string(bytes_.size()) + " are left");
      field.bytes = bytes_.first(length);
      bytes_ = bytes_.subspan(length);
      return true;
    }
  }
  fail_wire("field " + std::to_string(field.number) + " has the wire type " +
            std::to_string(tag & 7));
}

int64_t WireField::integer() const {
  if (type != Type::varint)
    fail_wire("field " + std::to_string(number) + ": expected an integer");
  return static_cast<int64_t>(word);
}

float WireField::real() const {
  if (type != Type::fixed32)
    fail_wire("field " + std::to_string(number) + ": expected a float");
  return std::bit_cast<float>(static_cast<uint32_t>(word));
}

Bytes WireField::message() const {
  if (type != Type::bytes)
    fail_wire("field " + std::to_string(number) + ": expected bytes");
  return bytes;
}

std::string_view WireField::text() const {
  const Bytes text = message();
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

void WireField::append_integers(std::vector<int64_t>& values) const {
  if (type != Type::bytes) {
    values.push_back(integer());
    return;
  }
  const std::vector<int64_t> packed = unpack_varints(bytes);
  values.insert(values.end(), packed.begin(), packed.end());
}

void WireField::append_reals(std::vector<float>& values) const {
  if (type != Type::bytes) {
    values.push_back(real());
    return;
  }
  if (bytes.size() % sizeof(float) != 0)
    fail_wire("field " + std::to_string(number) + ": expected floats");
  const size_t count = bytes.size() / sizeof(float);
  const size_t before = values.size();
  values.resize(before + count);
  if (count > 0) std::memcpy(&values[before], bytes.data(), bytes.size());
}

std::vector<int64_t> unpack_varints(Bytes bytes) {
  std::vector<int64_t> values;
  while (!bytes.empty())
    values.push_back(static_cast<int64_t>(read_varint(bytes)));
  return values;
}

}  // namespace fxjit::onnx
