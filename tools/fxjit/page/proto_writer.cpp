#include "tools/fxjit/page/proto_writer.h"

#include <bit>

namespace fxjit::command {
namespace {

// How a field's bytes end: the lower bits of its key.
enum Wire : uint32_t { kVarint = 0, kLength = 2, kFixed32 = 5 };

constexpr uint32_t key(uint32_t field, Wire wire) { return field << 3 | wire; }

}  // namespace

void ProtoWriter::varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    bytes_ += static_cast<char>((value & 0x7f) | 0x80);
  bytes_ += static_cast<char>(value);
}

ProtoWriter& ProtoWriter::number(uint32_t field, int64_t value) {
  varint(key(field, kVarint));
  varint(static_cast<uint64_t>(value));
  return *this;
}

ProtoWriter& ProtoWriter::real(uint32_t field, float value) {
  varint(key(field, kFixed32));
  const auto bits = std::bit_cast<uint32_t>(value);
  for (int shift = 0; shift < 32; shift += 8)
    bytes_ += static_cast<char>(bits >> shift & 0xff);
  return *this;
}

ProtoWriter& ProtoWriter::text(uint32_t field, std::string_view bytes) {
  varint(key(field, kLength));
  varint(bytes.size());
  bytes_ += bytes;
  return *this;
}

}  // namespace fxjit::command
