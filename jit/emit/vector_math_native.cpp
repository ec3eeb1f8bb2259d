#include "jit/emit/vector_math_native.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/PatternMatch.h>

#include <array>
#include <iterator>
#include <limits>
#include <span>
#include <string>

namespace fxjit::jit::native {
namespace {

namespace intrinsic = llvm::Intrinsic;

// Adding 1.5 * 2^23 leaves the nearest integer in a float's low bits.
constexpr double kRoundToInteger = 0x1.8p23;
constexpr double kLog2e = 0x1.715476p0;
constexpr double kLog2eRest = 0x1.4ae0cp-26;
constexpr int kMantissaBits = 23;
constexpr int kExponentBias = 127;

Value* call_x86(VectorBuilder& b, intrinsic::ID id, Values args) {
  return b.ir().CreateIntrinsic(id, {}, args);
}

// The unmasked variant of an AVX-512 intrinsic: the pass-through operand, all
// lanes on, rounding as the control register says.
Value* call_x86_512(VectorBuilder& b, intrinsic::ID id, Values args) {
  args.push_back(llvm::PoisonValue::get(b.vec(b.f32())));
  args.push_back(b.ir().getInt16(0xffff));
  args.push_back(b.i32(4));
  return call_x86(b, id, args);
}

// fraction * 2^floor(exponent), zero in lanes that are off: no work is done for
// them that takes long.
Value* scale(VectorBuilder& b, Value* fraction, Value* exponent, Value* mask) {
  Value* bits = b.ir().CreateBitCast(mask, b.i16());
  return call_x86(b, intrinsic::x86_avx512_mask_scalef_ps_512,
                  {fraction, exponent, b.like(fraction, 0), bits, b.i32(4)});
}

Value* load_table(VectorBuilder& b, Value* table, int first) {
  return b.load_raw(b.vec(b.f32()), b.offset(table, b.f32(), first),
                    4 * b.lanes());
}

// table[index & 15] per lane.
Value* lookup16(VectorBuilder& b, std::string_view name,
                std::span<const float> data, Value* index) {
  Value* table = b.f32_table(name, {data.data(), data.size()});
  switch (b.level()) {
    case CpuLevel::avx512:
      return call_x86(b, intrinsic::x86_avx512_permvar_sf_512,
                      {load_table(b, table, 0), index});
    case CpuLevel::avx2: {
      Value* low = call_x86(b, intrinsic::x86_avx2_permps,
                            {load_table(b, table, 0), index});
      Value* high = call_x86(b, intrinsic::x86_avx2_permps,
                             {load_table(b, table, 8), index});
      // The blend looks at sign bits: move bit 3 there.
      Value* choice = b.ir().CreateShl(index, b.like(index, 28));
      return call_x86(b, intrinsic::x86_avx_blendv_ps_256,
                      {low, high, b.bitcast(choice, b.f32())});
    }
    case CpuLevel::sse41: {
      Value* bounded = b.bit_and(index, b.like(index, 15));
      Value* result = llvm::PoisonValue::get(b.vec(b.f32()));
      for (int i = 0; i < b.lanes(); ++i) {
        Value* place = b.ir().CreateZExt(b.lane(bounded, i), b.i64());
        Value* entry = b.load_raw(b.f32(), b.offset(table, b.f32(), place));
        result = b.ir().CreateInsertElement(result, entry, uint64_t(i));
      }
      return result;
    }
  }
  return nullptr;
}

// table[index & 31] per lane, AVX-512 only.
Value* lookup32(VectorBuilder& b, std::string_view name,
                std::span<const float> data, Value* index) {
  Value* table = b.f32_table(name, {data.data(), data.size()});
  return call_x86(b, intrinsic::x86_avx512_vpermi2var_ps_512,
                  {load_table(b, table, 0), index, load_table(b, table, 16)});
}

// min(|x|, highest). One instruction of AVX-512 does both, but takes the
// number of a number and a NaN.
Value* bounded_magnitude(VectorBuilder& b, Value* x, double highest,
                         NanResult nan) {
  if (b.level() != CpuLevel::avx512 || nan == NanResult::keep) {
    return b.min_fast(b.like(x, highest), b.abs(x));
  }
  constexpr int kSmallerMagnitude = 2;
  constexpr int kClearSign = 2 << 2;
  return b.ir().CreateIntrinsic(
      intrinsic::x86_avx512_mask_range_ps_512, {},
      {x, b.like(x, highest), b.i32(kSmallerMagnitude | kClearSign), x,
       b.ir().getInt16(0xffff), b.i32(4)});
}

// c[0] + x (c[1] + x (c[2] + ...))
Value* horner(VectorBuilder& b, Value* x, std::span<const float> c) {
  Value* sum = b.like(x, c.back());
  for (size_t i = c.size() - 1; i-- > 0;) {
    sum = b.fma(sum, x, b.like(x, c[i]));
  }
  return sum;
}

// x - n * ln 2. With fused steps the first product needs no spare bits.
Value* subtract_ln2(VectorBuilder& b, Value* x, Value* n) {
  const auto parts = b.has_fma() ? std::span<const float>(kLn2Fma)
                                 : std::span<const float>(kLn2Exact);
  for (float part : parts) x = b.fnma(n, b.like(x, part), x);
  return x;
}

// Logarithms of the least normal float, and of half the least of all, which
// rounds to zero as all below it.
constexpr double kLogOfLeastNormal = -87.33654;
constexpr double kLogOfHalfLeast = -103.972077;

// exp = 2^n * T[j] * e^r with n a multiple of 1/entries. vscalefps floors n
// and rounds, overflows and denormalises as it should, so that the fraction of
// n is the index and no integer work is needed. The quadratic is positive for
// every r: an argument that is too large still overflows to infinity.
Value* exp_avx512(VectorBuilder& b, Value* x, Value* mask,
                  ExpAccuracy accuracy) {
  const bool full = accuracy == ExpAccuracy::full;
  const bool long_table = full || b.long_tables();
  Value* round = b.like(x, kRoundToInteger / (long_table ? 32 : 16));
  Value* shifted = b.fma(x, b.like(x, kLog2e), round);
  Value* n = b.sub(shifted, round);
  Value* index = b.bitcast(shifted, b.i32());
  Value* r = full ? subtract_ln2(b, x, n) : b.fnma(n, b.like(x, kLn2Fma[0]), x);
  Value* power = long_table ? lookup32(b, "exp32", kExpTable32, index)
                            : lookup16(b, "exp16", kExpTable16, index);
  const std::span<const float> c =
      long_table ? std::span<const float>(kExpQuadratic32) : kExpQuadratic16;
  Value* slope = b.fma(r, b.like(x, c[1]), b.like(x, c[0]));
  Value* scaled = b.fma(b.mul(power, r), slope, power);
  return scale(b, scaled, n, mask);
}

// Whether x is NaN or at least `least`, with no instruction for a sign that
// the caller has turned.
Value* not_below(VectorBuilder& b, Value* x, double least) {
  Value* turned = nullptr;
  if (llvm::PatternMatch::match(
          x, llvm::PatternMatch::m_FNeg(llvm::PatternMatch::m_Value(turned)))) {
    return b.ir().CreateFCmpULE(turned, b.like(x, -least));
  }
  return b.ir().CreateFCmpUGE(x, b.like(x, least));
}

// 2^n as a float, for n in [-126, 127].
Value* power_of_two(VectorBuilder& b, Value* n) {
  Value* biased = b.add(n, b.like(n, kExponentBias));
  return b.bitcast(b.ir().CreateShl(biased, b.like(n, kMantissaBits)), b.f32());
}

// exp = 2^n * e^r. Scaling in two steps reaches infinity and the denormals,
// with a single rounding at the second.
Value* exp_polynomial(VectorBuilder& b, Value* x, ExpRange range) {
  Value* round = b.like(x, kRoundToInteger);
  if (range == ExpRange::any) x = b.min_fast(b.like(x, 89), x);
  Value* shifted = b.fma(x, b.like(x, kLog2e), round);
  Value* n = b.sub(shifted, round);
  Value* r = subtract_ln2(b, x, n);
  Value* rest = horner(b, r, kExpPolynomial);
  Value* power = b.add(b.fma(rest, b.mul(r, r), r), b.like(x, 1));

  Value* bits = b.bitcast(shifted, b.i32());
  Value* whole = b.sub(bits, b.bitcast(round, b.i32()));
  Value* half = b.ir().CreateAShr(whole, b.like(whole, 1));
  power = b.mul(power, power_of_two(b, half));
  return b.mul(power, power_of_two(b, b.sub(whole, half)));
}

// exp = 2^n * 2^f of x up to 0, by fused steps. The low bits of `shifted` are n
// with the exponent's bias, its others are shifted out. At `kVanishing` these
// bits are zero, and so is what they scale.
Value* exp_not_positive(VectorBuilder& b, Value* x) {
  // Of 2^f, |f| <= 1/2, within 1.1e-7 of it.
  constexpr float kPolynomial[] = {
      1,
      0x1.62e42ap-1f,
      0x1.ebf9bcp-3f,
      0x1.c6b752p-5f,
      0x1.3cea88p-7f,
      0x1.5bba14p-10f,
  };
  constexpr double kVanishing = -88;
  x = b.max_fast(b.like(x, kVanishing), x);
  Value* round = b.like(x, kRoundToInteger + kExponentBias);
  Value* shifted = b.fma(x, b.like(x, kLog2e), round);
  Value* n = b.sub(shifted, round);
  Value* f = b.fma(x, b.like(x, kLog2e), b.neg(n));
  f = b.fma(x, b.like(x, kLog2eRest), f);
  Value* bits = b.bitcast(shifted, b.i32());
  Value* power = b.ir().CreateShl(bits, b.like(bits, kMantissaBits));
  return b.mul(horner(b, f, kPolynomial), b.bitcast(power, b.f32()));
}

// Mantissa in [3/4, 3/2) and exponent of each lane.
struct Decomposed {
  Value* mantissa;
  Value* exponent;
};

// Zero, infinity, NaN and negative numbers come out right by themselves: the
// exponent of zero is minus infinity, a negative mantissa is NaN.
Decomposed decompose_avx512(VectorBuilder& b, Value* x) {
  constexpr int kFrom34To32 = 3;
  constexpr int kNegativeIsNan = 2 << 2;
  Value* mantissa = call_x86_512(b, intrinsic::x86_avx512_mask_getmant_ps_512,
                                 {x, b.i32(kFrom34To32 | kNegativeIsNan)});
  Value* of_x = call_x86_512(b, intrinsic::x86_avx512_mask_getexp_ps_512, {x});
  Value* of_mantissa =
      call_x86_512(b, intrinsic::x86_avx512_mask_getexp_ps_512, {mantissa});
  return {mantissa, b.sub(of_x, of_mantissa)};
}

// Right for positive finite numbers only.
Decomposed decompose_integer(VectorBuilder& b, Value* x) {
  constexpr int kBitsOfThreeQuarters = 0x3f400000;
  constexpr int kDenormalShift = 25;
  Value* denormal = b.lt(x, b.like(x, std::numeric_limits<float>::min()));
  Value* scaled = b.mul(x, b.like(x, double(1 << kDenormalShift)));
  Value* bits = b.bitcast(b.select(denormal, scaled, x), b.i32());
  Value* exponent =
      b.ir().CreateAShr(b.sub(bits, b.like(bits, kBitsOfThreeQuarters)),
                        b.like(bits, kMantissaBits));
  Value* mantissa_bits =
      b.sub(bits, b.ir().CreateShl(exponent, b.like(bits, kMantissaBits)));
  Value* shift =
      b.select(denormal, b.like(bits, kDenormalShift), b.like(bits, 0));
  return {b.bitcast(mantissa_bits, b.f32()),
          b.convert(b.sub(exponent, shift), DType::i32, DType::f32)};
}

// `result` for positive finite x, else what log gives there.
Value* repair_log(VectorBuilder& b, Value* x, Value* result) {
  const double infinity = std::numeric_limits<double>::infinity();
  Value* zero = b.like(x, 0);
  Value* special =
      b.select(b.lt(zero, x), b.like(x, infinity),
               b.like(x, std::numeric_limits<double>::quiet_NaN()));
  special = b.select(b.eq(x, zero), b.like(x, -infinity), special);
  Value* regular = b.bit_and(b.lt(zero, x), b.lt(x, b.like(x, infinity)));
  return b.select(regular, result, special);
}

}  // namespace

// Lanes whose result is zero are off or compute another: a product that
// underflows takes as long as hundreds of others, and masks are full of minus
// infinities.
Value* exp(VectorBuilder& b, Value* x, ExpRange range, ExpAccuracy accuracy) {
  const double least =
      accuracy == ExpAccuracy::softmax ? kLogOfLeastNormal : kLogOfHalfLeast;
  if (b.level() == CpuLevel::avx512) {
    return exp_avx512(b, x, not_below(b, x, least), accuracy);
  }
  if (accuracy == ExpAccuracy::softmax && range == ExpRange::not_positive &&
      b.has_fma())
    return exp_not_positive(b, x);
  Value* zero = b.like(x, 0);
  Value* vanishes = b.lt(x, b.like(x, least));
  Value* kept = b.select(vanishes, zero, x);
  return b.select(vanishes, zero, exp_polynomial(b, kept, range));
}

// 2^(n-1) e^-r + 1/2. The half keeps the power finite, and what is too small to
// count in the sum needs no care. The bits of 2^(n-1) are those of `shifted`,
// whose other bits are shifted out; at the bound they are those of infinity.
Value* half_plus_exp(VectorBuilder& b, Value* x) {
  constexpr std::array<float, 5> kOfNegative = {
      kExpPolynomial[0], -kExpPolynomial[1], kExpPolynomial[2],
      -kExpPolynomial[3], kExpPolynomial[4]};
  static_assert(std::size(kExpPolynomial) == kOfNegative.size());
  Value* round = b.like(x, kRoundToInteger);
  Value* bounded = b.max_fast(b.like(x, -89.3), b.min_fast(b.like(x, 87), x));
  Value* shifted = b.fnma(bounded, b.like(x, kLog2e), round);
  Value* n = b.sub(shifted, round);
  Value* r = subtract_ln2(b, bounded, b.neg(n));
  Value* rest = b.fma(horner(b, r, kOfNegative), b.mul(r, r), b.neg(r));
  Value* bits = b.bitcast(shifted, b.i32());
  Value* half = b.add(b.ir().CreateShl(bits, b.like(bits, kMantissaBits)),
                      b.like(bits, (kExponentBias - 1) << kMantissaBits));
  return b.fma(b.add(rest, b.like(x, 1)), b.bitcast(half, b.f32()),
               b.like(x, 0.5));
}

// 2^n e^r - 1 = 2 (2^(n-1) (e^r - 1) + (2^(n-1) - 1/2)): the half keeps the
// power finite. Below -40 the result is -1.
Value* expm1(VectorBuilder& b, Value* x) {
  Value* round = b.like(x, kRoundToInteger);
  Value* bounded = b.min_fast(b.like(x, 89), x);
  bounded = b.max_fast(b.like(x, -40), bounded);
  Value* shifted = b.fma(bounded, b.like(x, kLog2e), round);
  Value* n = b.sub(shifted, round);
  Value* r = subtract_ln2(b, bounded, n);
  Value* rest = b.fma(horner(b, r, kExpPolynomial), b.mul(r, r), r);
  Value* bits = b.bitcast(shifted, b.i32());
  Value* whole = b.sub(bits, b.bitcast(round, b.i32()));
  Value* power = power_of_two(b, b.sub(whole, b.like(whole, 1)));
  Value* half = b.fma(power, rest, b.sub(power, b.like(x, 0.5)));
  return b.copysign(b.add(half, half), x);
}

// log x = e ln 2 + log(1 + f), with f + f^2 (-1/2 + f P(f)) for the last.
Value* log(VectorBuilder& b, Value* x) {
  const bool is_avx512 = b.level() == CpuLevel::avx512;
  const Decomposed parts =
      is_avx512 ? decompose_avx512(b, x) : decompose_integer(b, x);
  Value* f = b.sub(parts.mantissa, b.like(x, 1));
  Value* tail = b.fma(horner(b, f, kLogPolynomial), f, b.like(x, -0.5));
  Value* square = b.mul(f, f);
  if (b.has_fma()) {
    Value* result =
        b.fma(parts.exponent, b.like(x, kLn2Fma[0]), b.fma(tail, square, f));
    return is_avx512 ? result : repair_log(b, x, result);
  }
  // Without fused steps the large terms are added last, the exact one at the
  // very end.
  Value* low =
      b.fma(parts.exponent, b.like(x, kLn2Exact[1]), b.mul(tail, square));
  Value* high = b.mul(parts.exponent, b.like(x, kLn2Exact[0]));
  return repair_log(b, x, b.add(high, b.add(f, low)));
}

template <int kEntries, int kDegree>
Value* smooth(VectorBuilder& b, Value* x,
              const SmoothTable<kEntries, kDegree>& table, NanResult nan) {
  Value* u = bounded_magnitude(b, x, (kEntries - 1) * table.step, nan);
  Value* round = b.like(x, kRoundToInteger);
  Value* shifted = b.fma(u, b.like(x, 1 / table.step), round);
  Value* t = b.fnma(b.sub(shifted, round), b.like(x, table.step), u);
  Value* index = b.bitcast(shifted, b.i32());
  Value* sum = nullptr;
  for (int power = kDegree; power >= 0; --power) {
    const std::string name = table.name + ("." + std::to_string(power));
    const auto& row = table.coefficients[power];
    Value* c = kEntries == 16 ? lookup16(b, name, row, index)
                              : lookup32(b, name, row, index);
    sum = sum == nullptr ? c : b.fma(sum, t, c);
  }
  return sum;
}

template Value* smooth(VectorBuilder&, Value*, const SmoothTable<16, 5>&,
                       NanResult);
template Value* smooth(VectorBuilder&, Value*, const SmoothTable<16, 6>&,
                       NanResult);
template Value* smooth(VectorBuilder&, Value*, const SmoothTable<32, 4>&,
                       NanResult);
template Value* smooth(VectorBuilder&, Value*, const SmoothTable<32, 5>&,
                       NanResult);

TanhRatio tanh_ratio(VectorBuilder& b, Value* x) {
  Value* bounded = b.min_fast(b.like(x, kTanhRatioLimit), x);
  bounded = b.max_fast(b.like(x, -kTanhRatioLimit), bounded);
  Value* square = b.mul(bounded, bounded);
  return {b.mul(bounded, horner(b, square, kTanhRatio[0])),
          horner(b, square, kTanhRatio[1])};
}

Value* relu_by_product(VectorBuilder& b, Value* x) {
  if (b.level() == CpuLevel::avx512) {
    // One response per class of number, a hex digit each from the right: quiet
    // NaN, signalling NaN, zero, one, -inf, +inf, negative, positive. 0 keeps
    // the number, 2 makes NaN quiet, 3 is NaN, 7 is minus zero.
    constexpr int kResponses = 0x07030020;
    Value* table = b.number(b.vec(b.i32()), kResponses);
    return call_x86(b, intrinsic::x86_avx512_mask_fixupimm_ps_512,
                    {x, x, table, b.i32(0), b.ir().getInt16(0xffff), b.i32(4)});
  }
  Value* zero = b.like(x, 0);
  return b.mul(x, b.select(b.lt(zero, x), b.like(x, 1), zero));
}

}  // namespace fxjit::jit::native
