#include "src/ops/eager/prim_loops.h"

#include <string>

#include "src/ops/eager/prim_math.h"
#include "src/tensor/visit.h"

namespace fxjit::ops {
namespace {

[[noreturn]] void unsupported(Prim prim, DType type) {
  throw InternalError("scalar body: no " + std::string(prim_name(prim)) +
                      " on " + std::string(dtype_name(type)));
}

// Argument and result blocks of one instruction.
template <typename T>
struct Block {
  const T* a;
  const T* b;
  void* result;
  int64_t n;
  DType type;

  template <typename R = T, typename Fn>
  void unary(Fn fn) const {
    R* out = static_cast<R*>(result);
    for (int64_t i = 0; i < n; ++i) out[i] = fn(a[i]);
  }
  template <typename R = T, typename Fn>
  void binary(Fn fn) const {
    R* out = static_cast<R*>(result);
    for (int64_t i = 0; i < n; ++i) out[i] = fn(a[i], b[i]);
  }
};

template <typename T>
bool run_comparison(Prim prim, const Block<T>& block) {
  switch (prim) {
    case Prim::eq:
      block.template binary<bool>([](T a, T b) { return a == b; });
      return true;
    case Prim::ne:
      block.template binary<bool>([](T a, T b) { return a != b; });
      return true;
    case Prim::lt:
      block.template binary<bool>([](T a, T b) { return a < b; });
      return true;
    case Prim::le:
      block.template binary<bool>([](T a, T b) { return a <= b; });
      return true;
    case Prim::gt:
      block.template binary<bool>([](T a, T b) { return a > b; });
      return true;
    case Prim::ge:
      block.template binary<bool>([](T a, T b) { return a >= b; });
      return true;
    default:
      return false;
  }
}

template <typename T>
bool run_arithmetic(Prim prim, const Block<T>& block) {
  switch (prim) {
    case Prim::add:
      block.binary(prim::add<T>);
      return true;
    case Prim::sub:
      block.binary(prim::sub<T>);
      return true;
    case Prim::mul:
      block.binary(prim::mul<T>);
      return true;
    case Prim::neg:
      block.unary(prim::neg<T>);
      return true;
    case Prim::abs:
      block.unary(prim::abs<T>);
      return true;
    case Prim::minimum:
      block.binary(prim::minimum<T>);
      return true;
    case Prim::maximum:
      block.binary(prim::maximum<T>);
      return true;
    default:
      return false;
  }
}

template <typename T>
bool run_division(Prim prim, const Block<T>& block) {
  switch (prim) {
    case Prim::div:
      block.binary(prim::div<T>);
      return true;
    case Prim::floor_div:
      block.binary(prim::floor_div<T>);
      return true;
    case Prim::remainder:
      block.binary(prim::remainder<T>);
      return true;
    case Prim::fmod:
      block.binary(prim::fmod<T>);
      return true;
    case Prim::pow:
      block.binary(prim::pow<T>);
      return true;
    default:
      return false;
  }
}

template <typename T>
bool run_bitwise(Prim prim, const Block<T>& block) {
  switch (prim) {
    case Prim::bit_and:
      block.binary([](T a, T b) { return static_cast<T>(a & b); });
      return true;
    case Prim::bit_or:
      block.binary([](T a, T b) { return static_cast<T>(a | b); });
      return true;
    case Prim::bit_xor:
      block.binary([](T a, T b) { return static_cast<T>(a ^ b); });
      return true;
    case Prim::bit_not:
      block.unary([](T a) {
        if constexpr (std::is_same_v<T, bool>)
          return !a;
        else
          return static_cast<T>(~a);
      });
      return true;
    default:
      return false;
  }
}

template <typename T>
bool run_rounding(Prim prim, const Block<T>& block) {
  switch (prim) {
    case Prim::sqrt:
      block.unary([](T x) { return std::sqrt(x); });
      return true;
    case Prim::rsqrt:
      block.unary([](T x) { return 1 / std::sqrt(x); });
      return true;
    case Prim::floor:
      block.unary([](T x) { return std::floor(x); });
      return true;
    case Prim::ceil:
      block.unary([](T x) { return std::ceil(x); });
      return true;
    case Prim::round:
      block.unary([](T x) { return std::nearbyint(x); });
      return true;
    case Prim::trunc:
      block.unary([](T x) { return std::trunc(x); });
      return true;
    default:
      return false;
  }
}

template <typename T>
bool run_smooth(Prim prim, const Block<T>& block) {
  switch (prim) {
    case Prim::exp:
      block.unary([](T x) { return std::exp(x); });
      return true;
    case Prim::expm1:
      block.unary([](T x) { return std::expm1(x); });
      return true;
    case Prim::log:
      block.unary([](T x) { return std::log(x); });
      return true;
    case Prim::log1p:
      block.unary([](T x) { return std::log1p(x); });
      return true;
    case Prim::tanh:
      block.unary([](T x) { return std::tanh(x); });
      return true;
    case Prim::erf:
      block.unary([](T x) { return std::erf(x); });
      return true;
    case Prim::sigmoid:
      block.unary(prim::sigmoid<T>);
      return true;
    case Prim::silu:
      block.unary(prim::silu<T>);
      return true;
    case Prim::gelu:
      block.unary(prim::gelu<T>);
      return true;
    case Prim::gelu_tanh:
      block.unary(prim::gelu_tanh<T>);
      return true;
    default:
      return false;
  }
}

// Functions that are the C library's.
template <typename T>
bool run_call(Prim prim, const Block<T>& block) {
  switch (prim) {
#define FXJIT_PRIM(name, arity, cost)
#define FXJIT_CALL(name, cost)                     \
  case Prim::name:                                 \
    block.unary([](T x) { return std::name(x); }); \
    return true;
#include "src/ops/table/prims.inc"
    default:
      return false;
  }
}

template <typename T>
bool run_integer(Prim prim, const Block<T>& block) {
  switch (prim) {
    case Prim::shift_left:
      block.binary(prim::shift_left<T>);
      return true;
    case Prim::shift_right:
      block.binary(prim::shift_right<T>);
      return true;
    case Prim::floor:
    case Prim::ceil:
    case Prim::round:
    case Prim::trunc:
      block.unary([](T x) { return x; });
      return true;
    default:
      return run_bitwise(prim, block);
  }
}

template <typename T>
void run_typed(Prim prim, const Block<T>& block) {
  if (run_comparison(prim, block) || run_arithmetic(prim, block)) return;
  if constexpr (std::is_same_v<T, bool>) {
    if (run_bitwise(prim, block)) return;
  } else if constexpr (std::is_integral_v<T>) {
    if (run_division(prim, block) || run_integer(prim, block)) return;
  } else {
    if (run_division(prim, block) || run_rounding(prim, block) ||
        run_smooth(prim, block) || run_call(prim, block))
      return;
  }
  unsupported(prim, block.type);
}

template <typename T>
void run_select(const void* const args[3], void* result, int64_t n) {
  const bool* condition = static_cast<const bool*>(args[0]);
  const T* a = static_cast<const T*>(args[1]);
  const T* b = static_cast<const T*>(args[2]);
  T* out = static_cast<T*>(result);
  for (int64_t i = 0; i < n; ++i) out[i] = condition[i] ? a[i] : b[i];
}

template <typename To, typename From>
void run_cast(const void* from, void* result, int64_t n) {
  const From* in = static_cast<const From*>(from);
  To* out = static_cast<To*>(result);
  for (int64_t i = 0; i < n; ++i) out[i] = convert<To>(in[i]);
}

}  // namespace

void run_prim(const ScalarInstr& instr, DType operand,
              const void* const args[3], void* result, int64_t n) {
  visit_dtype(operand, [&](auto type) {
    using T = ComputeOf<typename decltype(type)::type>;
    if (instr.prim == Prim::select) {
      run_select<T>(args, result, n);
    } else if (instr.prim == Prim::cast) {
      visit_dtype(instr.type, [&](auto to) {
        run_cast<ComputeOf<typename decltype(to)::type>, T>(args[0], result, n);
      });
    } else {
      run_typed<T>(instr.prim,
                   {static_cast<const T*>(args[0]),
                    static_cast<const T*>(args[1]), result, n, operand});
    }
  });
}

}  // namespace fxjit::ops
