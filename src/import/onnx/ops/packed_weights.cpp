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
    const Value depth = call.size(0, call.wrap(-1, call.rank(0)));
    if (depth.is_int() && depth.as_int() != depth_)
      call.fail("input 0: expected " + std::to_string(depth_) +
                " in the last dim, as K says, got " +
                std::to_string(depth.as_int()));
  }

  // The product of input 0; in its type.
  Value product() const {
    if (call_.has(3) && call_.dtype(3) != DType::u8)
      return nn::functional::linear(call_[0], real());
    const Value codes = reshape(call_[1], Value::list({columns_, -1}));
    const Value scale =
        transpose(reshape(call_[2], Value::list({columns_, blocks_})), 0, 1);
    const Value sums = function("fxjit.blocked_product",
                                {cast(call_, call_[0], DType::f32), codes,
                                 scale, zeros(), block_, bits_, true});
    return cast(call_, sums, call_.dtype(0));
  }

 private:
  // With zero points of floats.
  Value real() const {
    const Value codes = reshape(unpacked_bits(call_[1], bits_),
                                Value::list({columns_, blocks_, block_}));
    const Value scale = of_blocks(cast(call_, call_[2], DType::f32));
    const Value moved = cast(call_, codes, DType::f32) -
                        of_blocks(cast(call_, call_[3], DType::f32));
    const Value whole = flatten(moved * scale, -2, -1);
    return cast(call_, narrow(whole, 1, 0, depth_), call_.dtype(0));
  }

  int64_t positive(const char* attribute) const {
    const int64_t number = call_.integer(attribute);
    if (number < 1) call_.fail(std::string(attribute) + ": expected 1 or more");
    return number;
  }

  // A number for each block.
  Value of_blocks(const Value& numbers) const {
    return reshape(numbers, Value::list({columns_, blocks_, 1}));
  }

  // Packed, each row from a byte on; half of the range where there are none.
  Value zeros() const {
    if (!call_.has(3))
      return full(Value::list({1, 1}), int64_t{1} << (bits_ - 1), DType::u8);
    const Value rows = reshape(call_[3], Value::list({columns_, -1}));
    return transpose(narrow(unpacked_bits(rows, bits_), 1, 0, blocks_), 0, 1);
  }

  const Call& call_;
  const int64_t columns_, depth_, block_, bits_, blocks_;
};

Results product_of_bits(Call& call) {
  const Value sums = BlockedWeight(call).product();
  return call.has(5) ? sums + call[5] : sums;
}

constexpr OpRow kPackedWeightOps[] = {
    {.op = "MatMulNBits", .run = product_of_bits, .domain = kMicrosoft},
};

}  // namespace

std::span<const OpRow> packed_weight_rows() { return kPackedWeightOps; }

}  // namespace fxjit::onnx
