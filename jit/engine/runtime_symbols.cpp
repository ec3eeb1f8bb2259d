#include "jit/engine/runtime_symbols.h"

#include <cmath>
#include <cstring>
#include <map>

#include "jit/engine/sanitize.h"
#include "src/program/driver/frame.h"

// libgcc's half-precision conversions, which LLVM calls below AVX2. Only
// their addresses are taken.
extern "C" {
void __extendhfsf2();
void __truncsfhf2();
void __truncdfhf2();
}

namespace fxjit::jit {
namespace {

struct UnaryRow {
  const char* name;
  float (*single)(float);
  double (*twice)(double);
};
struct BinaryRow {
  const char* name;
  float (*single)(float, float);
  double (*twice)(double, double);
};

// The double-precision name; the single-precision one has an f after it.
constexpr UnaryRow kUnary[] = {
#define FXJIT_PRIM(name, arity, cost)
#define FXJIT_CALL(name, cost) {#name, ::name##f, ::name},
#define FXJIT_SMOOTH(name, cost, expression)
#include "fxjit/prims.inc"
    {"exp", ::expf, ::exp},    {"expm1", ::expm1f, ::expm1},
    {"log", ::logf, ::log},    {"log1p", ::log1pf, ::log1p},
    {"tanh", ::tanhf, ::tanh}, {"erf", ::erff, ::erf},
    {"erfc", ::erfcf, ::erfc},
};

constexpr BinaryRow kBinary[] = {
    {"pow", ::powf, ::pow},
    {"fmod", ::fmodf, ::fmod},
};

template <typename Function>
void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}

std::map<std::string, void*> make_symbols() {
  std::map<std::string, void*> symbols = {
      {"memcpy", address_of(&std::memcpy)},
      {"memmove", address_of(&std::memmove)},
      {"memset", address_of(&std::memset)},
      {"memcmp", address_of(&std::memcmp)},
      {"fxjit_run_step", address_of(&program::fxjit_run_step)},
      {"__extendhfsf2", address_of(&__extendhfsf2)},
      {"__truncsfhf2", address_of(&__truncsfhf2)},
      {"__truncdfhf2", address_of(&__truncdfhf2)},
  };
  const auto add = [&](const auto& row) {
    symbols[row.name] = address_of(row.twice);
    symbols[std::string(row.name) + "f"] = address_of(row.single);
  };
  for (const UnaryRow& row : kUnary) add(row);
  for (const BinaryRow& row : kBinary) add(row);
  return symbols;
}

}  // namespace

void* runtime_symbol(const std::string& name) {
  static const std::map<std::string, void*> symbols = make_symbols();
  const auto found = symbols.find(name);
  return found == symbols.end() ? sanitizer_symbol(name) : found->second;
}

}  // namespace fxjit::jit
