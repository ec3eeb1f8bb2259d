#include "src/fx/passes/md5.h"

#include <array>
#include <bit>
#include <cmath>
#include <string>

namespace fxjit::fx::passes {
namespace {

using State = std::array<uint32_t, 4>;

constexpr int kShifts[4][4] = {
    {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

uint32_t little_endian(const char* bytes) {
  uint32_t word = 0;
  for (int i = 3; i >= 0; --i)
    word = word << 8 | static_cast<unsigned char>(bytes[i]);
  return word;
}

void add_block(State& state, const char* block) {
  auto [a, b, c, d] = state;
  for (int i = 0; i < 64; ++i) {
    uint32_t mixed = 0;
    int word = 0;
    switch (i / 16) {
      case 0: mixed = (b & c) | (~b & d), word = i; break;
      case 1: mixed = (d & b) | (~d & c), word = 5 * i + 1; break;
      case 2: mixed = b ^ c ^ d, word = 3 * i + 5; break;
      case 3: mixed = c ^ (b | ~d), word = 7 * i; break;
    }
    const auto constant =
        static_cast<uint32_t>(std::floor(std::abs(std::sin(i + 1)) * 0x1p32));
    const uint32_t sum =
        a + mixed + constant + little_endian(block + 4 * (word % 16));
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, kShifts[i / 16][i % 4]);
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
}

}  // namespace

uint32_t md5_prefix(std::string_view text) {
  std::string padded(text);
  padded += '\x80';
  while (padded.size() % 64 != 56) padded += '\0';
  const uint64_t bits = uint64_t{text.size()} * 8;
  for (int i = 0; i < 8; ++i) padded += static_cast<char>(bits >> (8 * i));
  State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  for (size_t at = 0; at < padded.size(); at += 64)
    add_block(state, padded.data() + at);
  uint32_t first = 0;
  for (int i = 0; i < 4; ++i) first = first << 8 | (state[0] >> (8 * i) & 0xff);
  return first;
}

}  // namespace fxjit::fx::passes
