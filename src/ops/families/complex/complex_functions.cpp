#include "src/ops/families/complex/complex_functions.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <iterator>
#include <numbers>

#include "src/ops/families/complex/complex_parts.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

template <typename T>
using Number = std::complex<T>;

// As torch divides: by the greater part of the divisor first, so that squares
// do not overflow.
template <typename T>
Number<T> quotient(Number<T> x, Number<T> y) {
  const T a = x.real(), b = x.imag(), c = y.real(), d = y.imag();
  const T wide = std::abs(c), high = std::abs(d);
  if (wide >= high) {
    if (wide == 0 && high == 0) return {a / wide, b / high};
    const T ratio = d / c, scale = 1 / (c + d * ratio);
    return {(a + b * ratio) * scale, (b - a * ratio) * scale};
  }
  const T ratio = c / d, scale = 1 / (c * ratio + d);
  return {(a * ratio + b) * scale, (b * ratio - a) * scale};
}

template <typename T>
Number<T> product(Number<T> x, Number<T> y) {
  return {x.real() * y.real() - x.imag() * y.imag(),
          x.real() * y.imag() + x.imag() * y.real()};
}

template <typename T>
Number<T> inverse(Number<T> x) {
  return quotient(Number<T>(1), x);
}

template <typename T>
Number<T> sign(Number<T> x) {
  const T size = std::abs(x);
  return size == 0 ? Number<T>() : Number<T>(x.real() / size, x.imag() / size);
}

// exp(x) - 1, exact near 0.
template <typename T>
Number<T> expm1(Number<T> x) {
  const T half = std::sin(x.imag() / 2), grown = std::expm1(x.real());
  const T less = -2 * half * half;
  return {grown * std::cos(x.imag()) + less,
          std::exp(x.real()) * std::sin(x.imag())};
}

// log(1 + x), exact near 0.
template <typename T>
Number<T> log1p(Number<T> x) {
  const T a = x.real(), b = x.imag();
  if (std::isnan(a) || std::isnan(b)) return {a + b, a + b};
  const T above = 2 * a + a * a + b * b;
  const bool is_near = std::abs(a) < T(0.5) && std::abs(b) < T(0.5);
  if (!is_near) return std::log(Number<T>(1 + a, b));
  const T size = a == 0 && b == 0 ? a : std::log1p(above) / 2;
  return {size, std::atan2(b, 1 + a)};
}

template <typename T>
Number<T> sinc(Number<T> x) {
  if (x == Number<T>()) return 1;
  const Number<T> at = x * std::numbers::pi_v<T>;
  return quotient(std::sin(at), at);
}

template <typename T>
Number<T> sigmoid(Number<T> x) {
  return inverse(T(1) + std::exp(-x));
}

struct ComplexFunction {
  std::string_view name;
  Number<float> (*single)(Number<float>);
  Number<double> (*twice)(Number<double>);
};

template <typename Fn>
constexpr ComplexFunction function_of(std::string_view name, Fn fn) {
  return {name, fn, fn};
}

constexpr ComplexFunction kComplexFunctions[] = {
    function_of("acos", [](auto x) { return std::acos(x); }),
    function_of("acosh", [](auto x) { return std::acosh(x); }),
    function_of("asin", [](auto x) { return std::asin(x); }),
    function_of("asinh", [](auto x) { return std::asinh(x); }),
    function_of("atan", [](auto x) { return std::atan(x); }),
    function_of("atanh", [](auto x) { return std::atanh(x); }),
    function_of("cos", [](auto x) { return std::cos(x); }),
    function_of("cosh", [](auto x) { return std::cosh(x); }),
    function_of("exp", [](auto x) { return std::exp(x); }),
    function_of("exp2",
                [](auto x) {
                  using T = typename decltype(x)::value_type;
                  return std::exp(x * std::numbers::ln2_v<T>);
                }),
    function_of("expm1", [](auto x) { return ops::expm1(x); }),
    function_of("log", [](auto x) { return std::log(x); }),
    function_of("log10", [](auto x) { return std::log10(x); }),
    function_of("log1p", [](auto x) { return ops::log1p(x); }),
    function_of("log2",
                [](auto x) {
                  using T = typename decltype(x)::value_type;
                  return std::log(x) / std::numbers::ln2_v<T>;
                }),
    function_of("reciprocal", [](auto x) { return inverse(x); }),
    function_of("rsqrt", [](auto x) { return inverse(std::sqrt(x)); }),
    function_of("sigmoid", [](auto x) { return sigmoid(x); }),
    function_of("sign", [](auto x) { return ops::sign(x); }),
    function_of("silu", [](auto x) { return product(x, sigmoid(x)); }),
    function_of("sin", [](auto x) { return std::sin(x); }),
    function_of("sinc", [](auto x) { return sinc(x); }),
    function_of("sinh", [](auto x) { return std::sinh(x); }),
    function_of("sqrt", [](auto x) { return std::sqrt(x); }),
    function_of("tan", [](auto x) { return std::tan(x); }),
    function_of("tanh", [](auto x) { return std::tanh(x); }),
};

const ComplexFunction* find(std::string_view name) {
  const auto* const found =
      std::ranges::find(kComplexFunctions, name, &ComplexFunction::name);
  return found == std::end(kComplexFunctions) ? nullptr : found;
}

// Calls fn(std::type_identity<T>{}) with the type of a part.
template <typename Fn>
void visit_parts(DType dtype, Fn&& fn) {
  if (dtype == DType::c128)
    fn(std::type_identity<double>{});
  else
    fn(std::type_identity<float>{});
}

template <typename T>
Number<T>* numbers(const Tensor& tensor) {
  return static_cast<Number<T>*>(tensor.data());
}

void run_map(const OpCall& call, std::span<const Tensor> results) {
  const ComplexFunction& function = *find(call[1].as_string());
  const Tensor input = call.tensor(0).contiguous();
  fill_contiguous(results[0], [&](const Tensor& out) {
    visit_parts(out.dtype(), [&](auto type) {
      using T = typename decltype(type)::type;
      for (int64_t i = 0, n = out.numel(); i < n; ++i) {
        if constexpr (std::is_same_v<T, float>)
          numbers<T>(out)[i] = function.single(numbers<T>(input)[i]);
        else
          numbers<T>(out)[i] = function.twice(numbers<T>(input)[i]);
      }
    });
  });
}

Value infer_pair(const OpCall& call) {
  return Tensor::meta(
      broadcast_shapes(call.tensor(0).sizes(), call.tensor(1).sizes()),
      call.tensor(0).dtype());
}

template <bool kPower>
void run_pair(const OpCall& call, std::span<const Tensor> results) {
  const Dims& sizes = results[0].sizes();
  const auto operand = [&](size_t i) {
    return fxjit::expand(call.tensor(i), sizes).as_tensor().contiguous();
  };
  const Tensor a = operand(0), b = operand(1);
  fill_contiguous(results[0], [&](const Tensor& out) {
    visit_parts(out.dtype(), [&](auto type) {
      using T = typename decltype(type)::type;
      for (int64_t i = 0, n = out.numel(); i < n; ++i) {
        const Number<T> x = numbers<T>(a)[i], y = numbers<T>(b)[i];
        numbers<T>(out)[i] = kPower ? std::pow(x, y) : quotient(x, y);
      }
    });
  });
}

// [outer, length, inner] around the axis, which is argument 1.
template <bool kRunning>
Value infer_products(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  return Tensor::meta(
      kRunning ? input.sizes()
               : reduced_shape(input.sizes(), {call.integer(1)}, true),
      input.dtype());
}

template <bool kRunning>
void run_products(const OpCall& call, std::span<const Tensor> results) {
  const Tensor input = call.tensor(0).contiguous();
  const int axis = static_cast<int>(call.integer(1));
  const int64_t length = axis_size(input, axis);
  int64_t inner = 1;
  for (int d = axis + 1; d < input.dim(); ++d) inner *= input.size(d);
  fill_contiguous(results[0], [&](const Tensor& out) {
    const int64_t step = kRunning ? length : 1;
    const int64_t lines = out.numel() / std::max<int64_t>(step, 1);
    visit_parts(out.dtype(), [&](auto type) {
      using T = typename decltype(type)::type;
      for (int64_t line = 0; line < lines; ++line) {
        const int64_t outer = line / inner, in = line % inner;
        Number<T> total = 1;
        for (int64_t k = 0; k < length; ++k) {
          total = product(total,
                          numbers<T>(input)[(outer * length + k) * inner + in]);
          if (kRunning)
            numbers<T>(out)[(outer * length + k) * inner + in] = total;
        }
        if (!kRunning) numbers<T>(out)[line] = total;
      }
    });
  });
}

constexpr OpRow kComplexFunctionRows[] = {
    direct_row("fxjit.complex_map", "input, function", "", infer_like_first,
               run_map),
    direct_row("fxjit.complex_quotient", "input, other", "", infer_pair,
               run_pair<false>),
    direct_row("fxjit.complex_power", "input, exponent", "", infer_pair,
               run_pair<true>),
    direct_row("fxjit.complex_product", "input, dim", "", infer_products<false>,
               run_products<false>),
    direct_row("fxjit.complex_running_product", "input, dim", "",
               infer_products<true>, run_products<true>),
};

}  // namespace

Value complex_map(const Value& input, std::string_view function) {
  return call_row("fxjit.complex_map", {input, std::string(function)});
}

Value complex_quotient(const Value& a, const Value& b) {
  return call_row("fxjit.complex_quotient", {a, b});
}

Value complex_power(const Value& base, const Value& exponent) {
  return call_row("fxjit.complex_power", {base, exponent});
}

Value complex_running_product(const Value& input, int axis) {
  return call_row("fxjit.complex_running_product", {input, axis});
}

Value complex_product(const Value& input, int axis) {
  return call_row("fxjit.complex_product", {input, axis});
}

std::span<const OpRow> complex_function_rows() { return kComplexFunctionRows; }

}  // namespace fxjit::ops
