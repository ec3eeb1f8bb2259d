#include "jit/emit/quantisings.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace fxjit::jit {
namespace {

bool is_byte(DType type) { return type == DType::u8 || type == DType::i8; }

// Reads a body backwards from its casts to 8 bits.
class Reader {
 public:
  explicit Reader(const ScalarBody& body) : body_(body) {}

  Quantising read(const ScalarInstr& cast) const {
    Quantising found;
    if (cast.prim != Prim::cast || !is_byte(cast.type)) return {};
    const auto held = bounded(cast.args[0], Prim::lt, found.high);
    if (!held) return {};
    const auto moved = bounded(*held, Prim::gt, found.low);
    if (!moved) return {};
    const int32_t rounded = without_zero(*moved, found.zero);
    if (!is(rounded, Prim::round) || !fits(cast.type, found)) return {};
    found.real = at(rounded).args[0];
    found.is_signed = cast.type == DType::i8;
    return found;
  }

 private:
  const ScalarInstr& at(int32_t id) const { return body_.instrs[size_t(id)]; }

  bool is(int32_t id, Prim prim) const {
    return at(id).prim == prim && at(id).type == DType::f32;
  }

  static bool fits(DType type, const Quantising& found) {
    const int least = type == DType::u8 ? 0 : -128;
    return found.low >= least && found.low <= found.high &&
           found.high <= least + 255;
  }

  // x of select(x < bound, x, bound), or of the same with another comparison.
  std::optional<int32_t> bounded(int32_t id, Prim comparison,
                                 int& bound) const {
    if (!is(id, Prim::select)) return {};
    const auto [condition, x, limit] = at(id).args;
    const ScalarInstr& compared = at(condition);
    if (compared.prim != comparison || compared.args[0] != x ||
        compared.args[1] != limit || at(limit).prim != Prim::constant)
      return {};
    const double number = at(limit).imm;
    if (!(std::abs(number) <= 255) || number != std::trunc(number)) return {};
    bound = static_cast<int>(number);
    return x;
  }

  // What the zero point is added to, itself if there is none.
  int32_t without_zero(int32_t id, int32_t& zero) const {
    if (!is(id, Prim::add)) return id;
    auto [x, moved, unused] = at(id).args;
    if (!is(x, Prim::round)) std::swap(x, moved);
    if (!is(moved, Prim::cast) || !is_byte(at(at(moved).args[0]).type))
      return id;
    zero = at(moved).args[0];
    return x;
  }

  const ScalarBody& body_;
};

llvm::Value* held(VectorBuilder& b, Value* x, int64_t low, int64_t high) {
  return b.min(b.max(x, b.integer(x->getType(), low)),
               b.integer(x->getType(), high));
}

// What is too large for 32 bits becomes their greatest number, NaN their least,
// and both what they should through 16 bits.
Value* whole_of(VectorBuilder& b, Value* real) {
  constexpr double kLarge = 0x1p30;
  return b.round_to_i32(b.min_fast(b.like(real, kLarge), real));
}

Value* moved(VectorBuilder& b, Value* shorts, Value* zero) {
  if (zero == nullptr) return shorts;
  if (!zero->getType()->isVectorTy())
    zero = b.splat(zero, VectorBuilder::lane_count(shorts));
  return b.ir().CreateBinaryIntrinsic(llvm::Intrinsic::sadd_sat, shorts, zero);
}

// The instructions that pack two vectors four lanes of 32 bits at a time, by
// level.
struct Packing {
  llvm::Intrinsic::ID sse41, avx2, avx512;

  Value* emit(VectorBuilder& b, Value* low, Value* high) const {
    const auto id = b.level() == CpuLevel::sse41  ? sse41
                    : b.level() == CpuLevel::avx2 ? avx2
                                                  : avx512;
    return b.ir().CreateIntrinsic(id, {}, {low, high});
  }
};

using namespace llvm::Intrinsic;
constexpr Packing kToShorts{x86_sse2_packssdw_128, x86_avx2_packssdw,
                            x86_avx512_packssdw_512};
constexpr Packing kToSigned{x86_sse2_packsswb_128, x86_avx2_packsswb,
                            x86_avx512_packsswb_512};
constexpr Packing kToUnsigned{x86_sse2_packuswb_128, x86_avx2_packuswb,
                              x86_avx512_packuswb_512};

}  // namespace

Quantisings::Quantisings(const ScalarBody& body) {
  const Reader reader(body);
  for (const ScalarInstr& instr : body.instrs)
    found_.push_back(reader.read(instr));
}

Value* emit_quantised(VectorBuilder& b, Value* real, Value* zero,
                      const Quantising& quantising) {
  using Short = std::numeric_limits<int16_t>;
  Value* whole = whole_of(b, real);
  Value* shorts = b.ir().CreateTrunc(held(b, whole, Short::min(), Short::max()),
                                     b.with_shape_of(whole, b.i16()));
  Value* made =
      held(b, moved(b, shorts, zero), quantising.low, quantising.high);
  return b.ir().CreateTrunc(made, b.with_shape_of(made, b.i8()));
}

Value* emit_quantised_columns(VectorBuilder& b, const Values& reals,
                              Value* zero, const Quantising& quantising) {
  constexpr int kFour = 4;
  const auto shorts = [&](size_t first) {
    Value* packed = kToShorts.emit(b, whole_of(b, reals[first]),
                                   whole_of(b, reals[first + 1]));
    return held(b, moved(b, packed, zero), quantising.low, quantising.high);
  };
  const Packing& packing = quantising.is_signed ? kToSigned : kToUnsigned;
  Value* bytes = packing.emit(b, shorts(0), shorts(2));
  llvm::SmallVector<int, 64> turned;
  for (int block = 0; block < kFour * b.lanes(); block += kFour * kFour)
    for (int lane = 0; lane < kFour; ++lane)
      for (int column = 0; column < kFour; ++column)
        turned.push_back(block + column * kFour + lane);
  return b.ir().CreateBitCast(b.ir().CreateShuffleVector(bytes, turned),
                              b.vec(b.i32()));
}

}  // namespace fxjit::jit
