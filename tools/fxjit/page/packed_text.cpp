#include "tools/fxjit/page/packed_text.h"

#include <zlib.h>

#include "fxjit/error.h"

namespace fxjit::command {
namespace {

constexpr char kDigits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string base64(const std::string& bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const auto at = [&](size_t place) -> uint32_t {
      return place < bytes.size() ? static_cast<unsigned char>(bytes[place])
                                  : 0;
    };
    const uint32_t group = at(i) << 16 | at(i + 1) << 8 | at(i + 2);
    text += kDigits[group >> 18];
    text += kDigits[group >> 12 & 63];
    text += i + 1 < bytes.size() ? kDigits[group >> 6 & 63] : '=';
    text += i + 2 < bytes.size() ? kDigits[group & 63] : '=';
  }
  return text;
}

}  // namespace

std::string packed_text(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::string bytes(size, '\0');
  const int result = compress2(
      reinterpret_cast<Bytef*>(bytes.data()), &size,
      reinterpret_cast<const Bytef*>(text.data()), text.size(),
      Z_BEST_COMPRESSION);
  FXJIT_CHECK(result == Z_OK, "zlib compresses into a buffer of its bound");
  bytes.resize(size);
  return base64(bytes);
}

}  // namespace fxjit::command
