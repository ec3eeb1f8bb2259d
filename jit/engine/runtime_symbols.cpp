#include <cmath>
#include <cstring>

#include "jit/engine/sanitize.h"
#include "jit/engine/symbol_table.h"

// libgcc's half-precision conversions, which LLVM calls below AVX2. Only
// their addresses are taken.
extern "C" {
void __extendhfsf2();
void __truncsfhf2();
void __truncdfhf2();
}

namespace fxjit::jit {
namespace {

using FloatUnary = float (*)(float);
using FloatBinary = float (*)(float, float);
using DoubleUnary = double (*)(double);
using DoubleBinary = double (*)(double, double);

struct UnaryRow {
  const char* name;
  FloatUnary single;
  DoubleUnary twice;
};
struct BinaryRow {
  const char* name;
  FloatBinary single;
  DoubleBinary twice;
};

// The double-precision name; the single-precision one has an f after it.
constexpr UnaryRow kUnary[] = {
#define FXJIT_PRIM(name, arity, cost)
#define FXJIT_CALL(name, cost) {#name, ::name##f, ::name},
#include "src/ops/table/prims.inc"
    {"exp", ::expf, ::exp},
    {"expm1", ::expm1f, ::expm1},
    {"log", ::logf, ::log},
    {"log1p", ::log1pf, ::log1p},
    {"tanh", ::tanhf, ::tanh},
    {"asinh", ::asinhf, ::asinh},
    {"acosh", ::acoshf, ::acosh},
    {"atanh", ::atanhf, ::atanh},
    {"erf", ::erff, ::erf},
    {"erfc", ::erfcf, ::erfc},
    {"lgamma", ::lgammaf, ::lgamma},
    {"tgamma", ::tgammaf, ::tgamma},
    {"cbrt", ::cbrtf, ::cbrt},
    {"sqrt", ::sqrtf, ::sqrt},
    {"floor", ::floorf, ::floor},
    {"ceil", ::ceilf, ::ceil},
    {"trunc", ::truncf, ::trunc},
    {"round", ::roundf, ::round},
    {"rint", ::rintf, ::rint},
    {"nearbyint", ::nearbyintf, ::nearbyint},
    {"roundeven", ::roundevenf, ::roundeven},
};

constexpr BinaryRow kBinary[] = {
    {"pow", ::powf, ::pow},
    {"atan2", ::atan2f, ::atan2},
    {"fmod", ::fmodf, ::fmod},
    {"remainder", ::remainderf, ::remainder},
    {"hypot", ::hypotf, ::hypot},
    {"fmin", ::fminf, ::fmin},
    {"fmax", ::fmaxf, ::fmax},
    {"copysign", ::copysignf, ::copysign},
    {"nextafter", ::nextafterf, ::nextafter},
};

template <typename Row>
void add_row(SymbolTable& symbols, const Row& row) {
  symbols.add(row.name, row.twice);
  symbols.add(std::string(row.name) + "f", row.single);
}

SymbolTable make_runtime_symbols() {
  SymbolTable symbols;
  for (const UnaryRow& row : kUnary) add_row(symbols, row);
  for (const BinaryRow& row : kBinary) add_row(symbols, row);
  symbols.add("fma", static_cast<double (*)(double, double, double)>(::fma));
  symbols.add("fmaf", static_cast<float (*)(float, float, float)>(::fmaf));
  symbols.add("memcpy", &std::memcpy);
  symbols.add("memmove", &std::memmove);
  symbols.add("memset", &std::memset);
  symbols.add("memcmp", &std::memcmp);
  symbols.add("__extendhfsf2", &__extendhfsf2);
  symbols.add("__truncsfhf2", &__truncsfhf2);
  symbols.add("__truncdfhf2", &__truncdfhf2);
  add_sanitizer_symbols(symbols);
  return symbols;
}

}  // namespace

const SymbolTable& runtime_symbols() {
  static const SymbolTable symbols = make_runtime_symbols();
  return symbols;
}

}  // namespace fxjit::jit
