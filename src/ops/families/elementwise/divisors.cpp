// The greatest common divisor and the least common multiple of integers.
#include <type_traits>

#include "src/ops/families/elementwise/function_rows.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

// The least number of a type is its own absolute value, as in torch.
template <typename T>
T magnitude(T x) {
  using Bits = std::make_unsigned_t<T>;
  return x < 0 ? static_cast<T>(Bits{0} - static_cast<Bits>(x)) : x;
}

// Euclid's algorithm. Of the least number and others it may be negative.
template <typename T>
T divisor(T x, T y) {
  T a = magnitude(x), b = magnitude(y);
  while (a != 0) {
    const T rest = static_cast<T>(b % a);
    b = a;
    a = rest;
  }
  return b;
}

// Products beyond the type wrap.
template <typename T>
T multiple(T x, T y) {
  using Bits = std::make_unsigned_t<T>;
  const T common = divisor(x, y);
  if (common == 0) return 0;
  // The least number has no quotient by -1.
  const T part = common == -1 ? static_cast<T>(Bits{0} - static_cast<Bits>(x))
                              : static_cast<T>(x / common);
  return magnitude(
      static_cast<T>(static_cast<uint64_t>(part) * static_cast<uint64_t>(y)));
}

template <bool kMultiple>
void run_divisor(const OpCall& call, std::span<const Tensor> results) {
  const Tensor& out = results[0];
  const Tensor a = operand_like(out, call[0]), b = operand_like(out, call[1]);
  fill_contiguous(out, [&](const Tensor& whole) {
    visit_dtype(out.dtype(), [&](auto type) {
      using T = typename decltype(type)::type;
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        for (int64_t i = 0, n = whole.numel(); i < n; ++i) {
          const T x = a.data_as<T>()[i], y = b.data_as<T>()[i];
          whole.data_as<T>()[i] = kMultiple ? multiple(x, y) : divisor(x, y);
        }
      }
    });
  });
}

template <bool kMultiple>
Value infer_divisor(const OpCall& call) {
  const ScalarTyping typing = scalar_typing(call, ScalarTypes::promote);
  if (is_floating(typing.result) || typing.result == DType::boolean)
    no_kernel(kMultiple ? "lcm_cpu" : "gcd_cpu", typing.result);
  return infer_scalar(call, typing);
}

constexpr OpRow kDivisorRows[] = {
    direct_row("gcd", "input, other", "torch.gcd .gcd", infer_divisor<false>,
               run_divisor<false>)
        .stating({.layout = Layout::elementwise}),
    direct_row("lcm", "input, other", "torch.lcm .lcm", infer_divisor<true>,
               run_divisor<true>)
        .stating({.layout = Layout::elementwise}),
};

}  // namespace

std::span<const OpRow> divisor_rows() { return kDivisorRows; }

}  // namespace fxjit::ops
