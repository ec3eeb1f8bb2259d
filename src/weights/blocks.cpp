#include "src/weights/blocks.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "fxjit/half.h"

namespace fxjit::weights {
namespace {

// Codes or zero points, as plain numbers.
class Numbers {
 public:
  Numbers(const Tensor& tensor, int bits)
      : bytes_(static_cast<const uint8_t*>(tensor.data())),
        row_(tensor.size(0) == 1 ? 0 : int64_t{tensor.stride(0)}),
        byte_(tensor.size(1) == 1 ? 0 : int64_t{tensor.stride(1)}),
        each_(8 / bits),
        bits_(bits),
        unsigned_(tensor.dtype() == DType::u8) {}

  // Element `at` of a row.
  int of(int64_t row, int64_t at) const {
    const uint8_t byte = bytes_[row * row_ + at / each_ * byte_];
    const int code = byte >> (at % each_ * bits_) & ((1 << bits_) - 1);
    const int sign = unsigned_ ? 0 : 1 << (bits_ - 1);
    return (code ^ sign) - sign;
  }

 private:
  const uint8_t* bytes_;
  int64_t row_, byte_;  // Strides, 0 where there is one.
  int64_t each_;
  int bits_;
  bool unsigned_;
};

Numbers codes_of(const CodeMatrix& matrix) {
  return {matrix.codes, matrix.stored.bits};
}

int code_at(const Numbers& codes, const CodeMatrix& matrix, int64_t k,
            int64_t n) {
  return matrix.stored.by_column ? codes.of(n, k) : codes.of(k, n);
}

struct Range {
  int low = 0, high = 0;

  void add(int number) {
    low = std::min(low, number), high = std::max(high, number);
  }
  bool fits(int bits) const {
    return low >= -(1 << (bits - 1)) && high < 1 << (bits - 1);
  }
};

Range range_of(const CodeMatrix& matrix) {
  const Numbers codes = codes_of(matrix);
  Range range;
  for (int64_t k = 0; k < matrix.depth; ++k)
    for (int64_t n = 0; n < matrix.columns; ++n)
      range.add(code_at(codes, matrix, k, n));
  return range;
}

int64_t count_blocks(const CodeMatrix& matrix) {
  return support::ceil_div(matrix.depth, matrix.stored.block);
}

// Those of zero points less the shift; no zero points are zeros.
Range zero_range(const CodeMatrix& matrix, int shift) {
  if (!matrix.zeros.defined()) return {std::min(-shift, 0), 0};
  const Numbers zeros(matrix.zeros, 8);
  Range range;
  for (int64_t b = 0; b < count_blocks(matrix); ++b)
    for (int64_t n = 0; n < matrix.columns; ++n)
      range.add(zeros.of(b, n) - shift);
  return range;
}

int shift_of(const CodeMatrix& matrix, int bits) {
  return matrix.codes.dtype() == DType::u8 ? 1 << (bits - 1) : 0;
}

// Bits of a code that hold all, and the zero points in a byte.
int least_bits(const CodeMatrix& matrix) {
  if (matrix.stored.bits < 8) return matrix.stored.bits;
  const Range codes = range_of(matrix);
  for (const int bits : {2, 4}) {
    const int shift = shift_of(matrix, bits);
    if (Range{codes.low - shift, codes.high - shift}.fits(bits) &&
        zero_range(matrix, shift).fits(8))
      return bits;
  }
  return 8;
}

float scale_at(const Tensor& scales, int64_t block, int64_t column) {
  const int64_t at = block * scales.stride(0) + column * scales.stride(1);
  switch (scales.dtype()) {
    case DType::f16:
      return static_cast<float>(scales.data_as<Half>()[at]);
    case DType::bf16:
      return static_cast<float>(scales.data_as<BFloat16>()[at]);
    default:
      return scales.data_as<float>()[at];
  }
}

bool are_halves(const CodeMatrix& matrix) {
  if (matrix.scales.dtype() == DType::f16) return true;
  for (int64_t b = 0; b < count_blocks(matrix); ++b)
    for (int64_t n = 0; n < matrix.columns; ++n) {
      const float scale = scale_at(matrix.scales, b, n);
      if (std::bit_cast<uint32_t>(static_cast<float>(Half(scale))) !=
          std::bit_cast<uint32_t>(scale))
        return false;
    }
  return true;
}

// One column's block of one panel.
class BlockWriter {
 public:
  BlockWriter(const CodeMatrix& matrix, const BlocksCoding& coding,
              int64_t width)
      : matrix_(matrix),
        coding_(coding),
        width_(width),
        codes_(codes_of(matrix)) {}

  // `lane` is the column's place in the panel.
  void write(int64_t block, int64_t column, int64_t lane,
             std::byte* out) const {
    const Blocks& blocks = coding_.blocks;
    const float scale = scale_at(matrix_.scales, block, column);
    if (blocks.has_halves)
      put(Half(scale).bits, lane, out);
    else
      put(scale, lane, out);
    if (blocks.has_zeros)
      put(static_cast<int8_t>(zero(block, column)), lane,
          out + blocks.zeros_at(width_));
    const int64_t first = block * blocks.size;
    const int64_t count = std::min(blocks.size, matrix_.depth - first);
    std::byte* const words = out + blocks.words_at(width_);
    for (int64_t i = 0; i < count; i += blocks.word_codes())
      put(word(first + i, std::min(blocks.word_codes(), count - i), column),
          i / blocks.word_codes() * width_ + lane, words);
  }

 private:
  template <typename T>
  static void put(T number, int64_t at, std::byte* to) {
    std::memcpy(to + at * int64_t{sizeof(T)}, &number, sizeof(T));
  }

  int zero(int64_t block, int64_t column) const {
    const int number = matrix_.zeros.defined()
                           ? Numbers(matrix_.zeros, 8).of(block, column)
                           : 0;
    return number - coding_.shift;
  }

  uint32_t word(int64_t k, int64_t count, int64_t column) const {
    const int bits = coding_.blocks.bits;
    const uint32_t mask = (uint32_t{1} << bits) - 1;
    uint32_t made = 0;
    for (int64_t i = 0; i < count; ++i) {
      const int code = code_at(codes_, matrix_, k + i, column) - coding_.shift;
      made |= (static_cast<uint32_t>(code) & mask) << (bits * i);
    }
    return made;
  }

  const CodeMatrix& matrix_;
  const BlocksCoding& coding_;
  int64_t width_;
  Numbers codes_;
};

}  // namespace

BlocksCoding find_blocks(const CodeMatrix& matrix, bool halves) {
  BlocksCoding coding;
  Blocks& blocks = coding.blocks;
  blocks.size = matrix.stored.block;
  blocks.bits = least_bits(matrix);
  coding.shift = shift_of(matrix, blocks.bits);
  const Range zeros = zero_range(matrix, coding.shift);
  blocks.has_zeros = zeros.low != 0 || zeros.high != 0;
  blocks.has_halves = halves && are_halves(matrix);
  return coding;
}

void pack_blocks(const CodeMatrix& matrix, const BlocksCoding& coding,
                 int64_t width, std::byte* out) {
  const BlockWriter writer(matrix, coding, width);
  const int64_t bytes = coding.blocks.bytes(width);
  const int64_t panel = coding.blocks.panel_bytes(matrix.depth, width);
  const int64_t panels = support::ceil_div(matrix.columns, width);
  std::memset(out, 0, static_cast<size_t>(panels * panel));
  for (int64_t n = 0; n < matrix.columns; ++n)
    for (int64_t b = 0; b < count_blocks(matrix); ++b)
      writer.write(b, n, n % width, out + n / width * panel + b * bytes);
}

}  // namespace fxjit::weights
