#include "jit/engine/object_bundle.h"

#include <cstdint>
#include <cstring>

namespace fxjit::jit {
namespace {

// Layout: count, then for each object its length and bytes; all lengths are
// 64-bit in the host's byte order.
void append_length(std::string& bytes, uint64_t length) {
  char raw[sizeof(length)];
  std::memcpy(raw, &length, sizeof(length));
  bytes.append(raw, sizeof(raw));
}

std::optional<uint64_t> take_length(std::span<const std::byte>& bytes) {
  uint64_t length = 0;
  if (bytes.size() < sizeof(length)) return std::nullopt;
  std::memcpy(&length, bytes.data(), sizeof(length));
  bytes = bytes.subspan(sizeof(length));
  return length;
}

}  // namespace

std::string ObjectBundle::serialise() const {
  std::string bytes;
  append_length(bytes, objects.size());
  for (const std::string& object : objects) {
    append_length(bytes, object.size());
    bytes += object;
  }
  return bytes;
}

std::optional<ObjectBundle> parse_bundle(std::span<const std::byte> bytes) {
  const auto count = take_length(bytes);
  if (!count) return std::nullopt;
  ObjectBundle bundle;
  for (uint64_t i = 0; i < *count; ++i) {
    const auto length = take_length(bytes);
    if (!length || *length > bytes.size()) return std::nullopt;
    bundle.objects.emplace_back(reinterpret_cast<const char*>(bytes.data()),
                                *length);
    bytes = bytes.subspan(*length);
  }
  if (!bytes.empty()) return std::nullopt;
  return bundle;
}

}  // namespace fxjit::jit
