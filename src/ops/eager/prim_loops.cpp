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

// Argument and result blocks of one instruction. Its loops return true, as the
// functions below do for an instruction that is theirs.
template <typename T>
struct Block {
  const T* a;
  const T* b;
  void* result;
  int64_t n;
  DType type;

  template <typename R = T, typename Fn>
  bool unary(Fn fn) const {
    R* out = static_cast<R*>(result);
    for (int64_t i = 0; i < n; ++i) out[i] = fn(a[i]);
    return true;
  }
  template <typename R = T, typename Fn>
  bool binary(Fn fn) const {
    R* out = static_cast<R*>(result);
    for (int64_t i = 0; i < n; ++i) out[i] = fn(a[i], b[i]);
    return true;
  }
};

template <typename T>
bool run_comparison(Prim prim, const Block<T>& block) {
  switch (prim) {
    case Prim::eq:
      return block.template binary<bool>([](T a, T b) { return a == b; });
    case Prim::ne:
      return block.template binary<bool>([](T a, T b) { return a != b; });
    case Prim::lt:
      return block.template binary<bool>([](T a, T b) { return a < b; });
    case Prim::le:
      return block.template binary<bool>([](T a, T b) { return a <= b; });
    case Prim::gt:
      return block.template binary<bool>([](T a, T b) { return a > b; });
    case Prim::ge:
      return block.template binary<bool>([](T a, T b) { return a >= b; });
    default:
      return false;
  }
}

template <typename T>
bool run_arithmetic(Prim prim, const Block<T>& block) {
  switch (prim) {
    case Prim::add:
      return block.binary(prim::add<T>);
    case Prim::sub:
      return block.binary(prim::sub<T>);
    case Prim::mul:
      return block.binary(prim::mul<T>);
    case Prim::neg:
      return block.unary(prim::neg<T>);
    case Prim::abs:
      return block.unary(prim::abs<T>);
    case Prim::minimum:
      return block.binary(prim::minimum<T>);
    case Prim::maximum:
      return block.binary(prim::maximum<T>);
    default:
      return false;
  }
}

template <typename T>
bool run_division(Prim prim, const Block<T>& block) {
  switch (prim) {
    case Prim::div:
      return block.binary(prim::div<T>);
    case Prim::floor_div:
      return block.binary(prim::floor_div<T>);
    case Prim::remainder:
      return block.binary(prim::remainder<T>);
    case Prim::fmod:
      return block.binary(prim::fmod<T>);
    case Prim::pow:
      return block.binary(prim::pow<T>);
    default:
      return false;
  }
}

template <typename T>
bool run_bitwise(Prim prim, const Block<T>& block) {
  switch (prim) {
    case Prim::bit_and:
      return block.binary([](T a, T b) { return static_cast<T>(a & b); });
    case Prim::bit_or:
      return block.binary([](T a, T b) { return static_cast<T>(a | b); });
    case Prim::bit_xor:
      return block.binary([](T a, T b) { return static_cast<T>(a ^ b); });
    case Prim::bit_not:
      return block.unary([](T a) {
        if constexpr (std::is_same_v<T, bool>)
          return !a;
        else
          return static_cast<T>(~a);
      });
    default:
      return false;
  }
}

template <typename T>
bool run_rounding(Prim prim, const Block<T>& block) {
  switch (prim) {
    case Prim::sqrt:
      return block.unary([](T x) { return std::sqrt(x); });
    case Prim::rsqrt:
      return block.unary([](T x) { return 1 / std::sqrt(x); });
    case Prim::floor:
      return block.unary([](T x) { return std::floor(x); });
    case Prim::ceil:
      return block.unary([](T x) { return std::ceil(x); });
    case Prim::round:
      return block.unary([](T x) { return std::nearbyint(x); });
    case Prim::trunc:
      return block.unary([](T x) { return std::trunc(x); });
    default:
      return false;
  }
}

template <typename T>
bool run_smooth(Prim prim, const Block<T>& block) {
  switch (prim) {
#define FXJIT_PRIM(name, arity, cost)
#define FXJIT_CALL(name, cost) FXJIT_SMOOTH(name, cost, std::name(x))
#define FXJIT_SMOOTH(name, cost, expression) \
  case Prim::name:                           \
    return block.unary([](T x) { return expression; });
#include "fxjit/prims.inc"
    default:
      return false;
  }
}

template <typename T>
bool run_integer(Prim prim, const Block<T>& block) {
  switch (prim) {
    case Prim::shift_left:
      return block.binary(prim::shift_left<T>);
    case Prim::shift_right:
      return block.binary(prim::shift_right<T>);
    case Prim::floor:
    case Prim::ceil:
    case Prim::round:
    case Prim::trunc:
      return block.unary([](T x) { return x; });
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
        run_smooth(prim, block))
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
