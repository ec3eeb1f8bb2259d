// Ops of the domain com.microsoft on weights of a few bits that are packed in
// bytes, in blocks along the depth.
#include "src/import/onnx/ops/families.h"
#include "src/import/onnx/ops/microsoft.h"
#include "src/import/onnx/ops/quantised_inputs.h"

namespace fxjit::onnx {
namespace {

// Numbers of `bits` bits, the first one of a byte in its lowest bits:
// [..., bytes] as [..., bytes * 8 / bits].
Value unpacked_bits(const Value& packed, int64_t bits) {
  if (bits == 8) return packed;
  ValueList parts;
  for (int64_t shift = 0; shift < 8; shift += bits)
    parts.push_back(
        bitwise_and(bitwise_right_shift(packed, shift), (1 << bits) - 1));
  return flatten(stack(Value::list(std::move(parts)), -1), -2, -1);
}

// The matrix [N, K] of MatMulNBits, input 1 of [N, blocks, bytes of a block].
class BlockedWeight {
 public:
  explicit BlockedWeight(const Call& call)
      : call_(call),
        columns_(positive("N")),
        depth_(positive("K")),
        block_(positive("block_size")),
        bits_(call.integer("bits", 4)),
        blocks_((depth_ + block_ - 1) / block_) {
    if (bits_ != 2 && bits_ != 4 && bits_ != 8)
      call.fail("bits: " + std::to_string(bits_) + " are not supported");
    if (call.dtype(1) != DType::u8)
      call.fail("input 1: expected packed numbers of uint8, got " +
                std::string(dtype_name(call.dtype(1))));
    check_scale(call, 2);
    if (call.has(4)) call.fail("input 4: g_idx is not supported");
  }

  Value real() const {
    const Value codes = reshape(unpacked_bits(call_[1], bits_),
                                Value::list({columns_, blocks_, block_}));
    const Value scale = of_blocks(cast(call_, call_[2], DType::f32));
    const Value whole = flatten(dequantised(codes, scale), -2, -1);
    return cast(call_, narrow(whole, 1, 0, depth_), call_.dtype(0));
  }

 private:
  int64_t positive(const char* attribute) const {
    const int64_t number = call_.integer(attribute);
    if (number < 1) call_.fail(std::string(attribute) + ": expected 1 or more");
    return number;
  }

  // A number for each block.
  Value of_blocks(const Value& numbers) const {
    return reshape(numbers, Value::list({columns_, blocks_, 1}));
  }

  Value dequantised(const Value& codes, const Value& scale) const {
    if (call_.has(3) && call_.dtype(3) != DType::u8)
      return (cast(call_, codes, DType::f32) -
              of_blocks(cast(call_, call_[3], DType::f32))) *
             scale;
    return function("fxjit.dequantize", {codes, scale, zeros()});
  }

  // Packed, each row from a byte on; half of the range where there are none.
  Value zeros() const {
    if (!call_.has(3))
      return full(Value::list({}), int64_t{1} << (bits_ - 1), DType::u8);
    const Value rows = reshape(call_[3], Value::list({columns_, -1}));
    return of_blocks(narrow(unpacked_bits(rows, bits_), 1, 0, blocks_));
  }

  const Call& call_;
  const int64_t columns_, depth_, block_, bits_, blocks_;
};

Results product_of_bits(Call& call) {
  return nn::functional::linear(call[0], BlockedWeight(call).real(),
                                call.has(5) ? call[5] : Value());
}

constexpr OpRow kPackedWeightOps[] = {
    {.op = "MatMulNBits", .run = product_of_bits, .domain = kMicrosoft},
};

}  // namespace

std::span<const OpRow> packed_weight_rows() { return kPackedWeightOps; }

}  // namespace fxjit::onnx
