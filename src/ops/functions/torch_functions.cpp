// Functions of torch's namespace that pass their arguments on as they are. What
// they take and give stands in the headers.
#include "fxjit/functions.h"
#include "src/ops/functions/call.h"

namespace fxjit {

using functions::call;

#define ONE(name) \
  Value name(const Arg& a) { return call("torch." #name, {a}); }
#define TWO(name)                          \
  Value name(const Arg& a, const Arg& b) { \
    return call("torch." #name, {a, b});   \
  }
#define THREE(name)                                      \
  Value name(const Arg& a, const Arg& b, const Arg& c) { \
    return call("torch." #name, {a, b, c});              \
  }

// clang-format off
ONE(neg) ONE(abs) ONE(sign) ONE(reciprocal) ONE(square) ONE(sqrt) ONE(rsqrt)
ONE(floor) ONE(ceil) ONE(round) ONE(trunc) ONE(frac) ONE(exp) ONE(exp2)
ONE(expm1) ONE(log) ONE(log2) ONE(log10) ONE(log1p) ONE(erf) ONE(erfc) ONE(sin)
ONE(cos) ONE(tan) ONE(asin) ONE(acos) ONE(atan) ONE(sinh) ONE(cosh) ONE(asinh)
ONE(acosh) ONE(atanh) ONE(tanh) ONE(sigmoid) ONE(relu) ONE(selu) ONE(isnan)
ONE(isinf) ONE(isfinite) ONE(logical_not) ONE(bitwise_not) ONE(clone) ONE(t)

TWO(rsub) TWO(mul) TWO(true_divide) TWO(floor_divide) TWO(remainder) TWO(fmod)
TWO(pow) TWO(clamp_min) TWO(clamp_max) TWO(minimum) TWO(maximum) TWO(prelu)
TWO(eq) TWO(ne) TWO(lt) TWO(le) TWO(gt) TWO(ge) TWO(logical_and) TWO(logical_or)
TWO(logical_xor) TWO(bitwise_and) TWO(bitwise_or) TWO(bitwise_xor)
TWO(bitwise_left_shift) TWO(bitwise_right_shift) TWO(cumsum) TWO(reshape)
TWO(permute) TWO(squeeze) TWO(unsqueeze) TWO(unbind) TWO(cat) TWO(stack)
TWO(flip) TWO(tril) TWO(triu) TWO(masked_select) TWO(matmul) TWO(mm) TWO(bmm)
TWO(mv) TWO(dot) TWO(outer)

THREE(clamp) THREE(lerp) THREE(where) THREE(masked_fill) THREE(amax) THREE(amin)
THREE(any) THREE(all) THREE(max) THREE(min) THREE(argmax) THREE(argmin)
THREE(logsumexp) THREE(flatten) THREE(unflatten) THREE(transpose) THREE(movedim)
THREE(select) THREE(chunk) THREE(repeat_interleave) THREE(roll)
THREE(index_select) THREE(gather) THREE(take_along_dim) THREE(addmm)
THREE(baddbmm)
// clang-format on

#undef ONE
#undef TWO
#undef THREE

}  // namespace fxjit
