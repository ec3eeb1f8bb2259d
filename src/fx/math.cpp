#include "fxjit/fx/math.h"

#include <cmath>

#include "fxjit/fx/wrap.h"
#include "src/fx/builtins.h"

namespace fxjit::fx {
namespace {

constexpr double kDegreesPerRadian = 57.29577951308232;

double number_of(const Value& value) {
  if (value.is_tensor()) return value.as_tensor().item();
  if (value.is_number()) return value.as_double();
  throw TypeError("must be real number, not " + std::string(value.kind_name()));
}

// Python raises where C gives NaN or infinity for finite arguments.
double checked(double result, bool finite_arguments) {
  if (!finite_arguments) return result;
  if (std::isnan(result)) throw ValueError("math domain error");
  if (std::isinf(result)) throw ValueError("math range error");
  return result;
}

void check_count(const char* name, const ValueList& args, const Kwargs& kwargs,
                 size_t count) {
  if (!kwargs.empty())
    throw TypeError(std::string(name) + "() takes no keyword arguments");
  if (args.size() == count) return;
  if (count == 1)
    throw TypeError(std::string(name) + "() takes exactly one argument (" +
                    std::to_string(args.size()) + " given)");
  throw TypeError(std::string(name).substr(5) + " expected " +
                  std::to_string(count) + " arguments, got " +
                  std::to_string(args.size()));
}

using UnaryFn = Value (*)(double);
using BinaryFn = double (*)(double, double);
struct UnaryRow {
  const char* name;
  UnaryFn fn;
};
struct BinaryRow {
  const char* name;
  BinaryFn fn;
};

template <double (*Fn)(double)>
Value real(double x) {
  return checked(Fn(x), std::isfinite(x));
}

template <double (*Fn)(double)>
Value whole(double x) {
  if (std::isnan(x)) throw ValueError("cannot convert float NaN to integer");
  if (std::isinf(x))
    throw ValueError("cannot convert float infinity to integer");
  return static_cast<int64_t>(Fn(x));
}

// log(0) is an error of its own kind in C, in Python one of domain.
template <double (*Fn)(double)>
Value logarithm(double x) {
  if (x <= 0) throw ValueError("math domain error");
  return Fn(x);
}

constexpr UnaryRow kUnary[] = {
    {"math.ceil", whole<std::ceil>},
    {"math.floor", whole<std::floor>},
    {"math.trunc", whole<std::trunc>},
    {"math.sqrt", real<std::sqrt>},
    {"math.exp", real<std::exp>},
    {"math.expm1", real<std::expm1>},
    {"math.log", logarithm<std::log>},
    {"math.log1p", real<std::log1p>},
    {"math.log2", logarithm<std::log2>},
    {"math.log10", logarithm<std::log10>},
    {"math.sin", real<std::sin>},
    {"math.cos", real<std::cos>},
    {"math.tan", real<std::tan>},
    {"math.asin", real<std::asin>},
    {"math.acos", real<std::acos>},
    {"math.atan", real<std::atan>},
    {"math.sinh", real<std::sinh>},
    {"math.cosh", real<std::cosh>},
    {"math.tanh", real<std::tanh>},
    {"math.erf", real<std::erf>},
    {"math.gamma", real<std::tgamma>},
    {"math.lgamma", real<std::lgamma>},
    {"math.fabs", real<std::fabs>},
    {"math.degrees", [](double x) -> Value { return x * kDegreesPerRadian; }},
    {"math.radians", [](double x) -> Value { return x / kDegreesPerRadian; }},
    {"math.isnan", [](double x) -> Value { return std::isnan(x); }},
    {"math.isinf", [](double x) -> Value { return std::isinf(x); }},
    {"math.isfinite", [](double x) -> Value { return std::isfinite(x); }},
};
constexpr BinaryRow kBinary[] = {
    {"math.pow", std::pow},     {"math.atan2", std::atan2},
    {"math.fmod", std::fmod},   {"math.copysign", std::copysign},
    {"math.hypot", std::hypot},
};

Value call(const char* name, std::initializer_list<nn::CallArg> args) {
  ValueList values;
  for (const nn::CallArg& arg : args) values.push_back(arg.value);
  return Wrapped(*find_defined_function(name), /*leaf=*/false)
      .call(std::move(values), {}, args.begin()->source);
}

}  // namespace

void visit_math_functions(const DefineFunction& define) {
  for (const UnaryRow& row : kUnary)
    define(
        row.name,
        [&row](const ValueList& args, const Kwargs& kwargs) {
          check_count(row.name, args, kwargs, 1);
          return row.fn(number_of(args[0]));
        },
        ops::Purity::pure);
  for (const BinaryRow& row : kBinary)
    define(
        row.name,
        [&row](const ValueList& args, const Kwargs& kwargs) {
          check_count(row.name, args, kwargs, 2);
          const double x = number_of(args[0]);
          const double y = number_of(args[1]);
          return Value(
              checked(row.fn(x, y), std::isfinite(x) && std::isfinite(y)));
        },
        ops::Purity::pure);
}

namespace math {

Value ceil(nn::CallArg x) { return call("math.ceil", {x}); }
Value floor(nn::CallArg x) { return call("math.floor", {x}); }
Value trunc(nn::CallArg x) { return call("math.trunc", {x}); }
Value sqrt(nn::CallArg x) { return call("math.sqrt", {x}); }
Value exp(nn::CallArg x) { return call("math.exp", {x}); }
Value expm1(nn::CallArg x) { return call("math.expm1", {x}); }
Value log(nn::CallArg x) { return call("math.log", {x}); }
Value log1p(nn::CallArg x) { return call("math.log1p", {x}); }
Value log2(nn::CallArg x) { return call("math.log2", {x}); }
Value log10(nn::CallArg x) { return call("math.log10", {x}); }
Value sin(nn::CallArg x) { return call("math.sin", {x}); }
Value cos(nn::CallArg x) { return call("math.cos", {x}); }
Value tan(nn::CallArg x) { return call("math.tan", {x}); }
Value asin(nn::CallArg x) { return call("math.asin", {x}); }
Value acos(nn::CallArg x) { return call("math.acos", {x}); }
Value atan(nn::CallArg x) { return call("math.atan", {x}); }
Value sinh(nn::CallArg x) { return call("math.sinh", {x}); }
Value cosh(nn::CallArg x) { return call("math.cosh", {x}); }
Value tanh(nn::CallArg x) { return call("math.tanh", {x}); }
Value erf(nn::CallArg x) { return call("math.erf", {x}); }
Value gamma(nn::CallArg x) { return call("math.gamma", {x}); }
Value lgamma(nn::CallArg x) { return call("math.lgamma", {x}); }
Value fabs(nn::CallArg x) { return call("math.fabs", {x}); }
Value degrees(nn::CallArg x) { return call("math.degrees", {x}); }
Value radians(nn::CallArg x) { return call("math.radians", {x}); }
Value pow(nn::CallArg x, nn::CallArg y) { return call("math.pow", {x, y}); }
Value atan2(nn::CallArg y, nn::CallArg x) { return call("math.atan2", {y, x}); }
Value fmod(nn::CallArg x, nn::CallArg y) { return call("math.fmod", {x, y}); }
Value copysign(nn::CallArg x, nn::CallArg y) {
  return call("math.copysign", {x, y});
}
Value hypot(nn::CallArg x, nn::CallArg y) { return call("math.hypot", {x, y}); }
Value isnan(nn::CallArg x) { return call("math.isnan", {x}); }
Value isinf(nn::CallArg x) { return call("math.isinf", {x}); }
Value isfinite(nn::CallArg x) { return call("math.isfinite", {x}); }

}  // namespace math
}  // namespace fxjit::fx
