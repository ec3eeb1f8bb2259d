#include "fxjit/fx/math.h"

#include <cmath>

#include "fxjit/fx/wrap.h"
#include "src/fx/tracing/builtins.h"

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

struct MathRow {
  const char* name;
  size_t count;
  Value (*fn)(double x, double y);  // Functions of one argument ignore `y`.
};

template <double (*Fn)(double)>
Value real(double x, double) {
  return checked(Fn(x), std::isfinite(x));
}

template <double (*Fn)(double, double)>
Value binary(double x, double y) {
  return checked(Fn(x, y), std::isfinite(x) && std::isfinite(y));
}

template <double (*Fn)(double)>
Value whole(double x, double) {
  if (std::isnan(x)) throw ValueError("cannot convert float NaN to integer");
  if (std::isinf(x))
    throw ValueError("cannot convert float infinity to integer");
  return static_cast<int64_t>(Fn(x));
}

// log(0) is an error of its own kind in C, in Python one of domain.
template <double (*Fn)(double)>
Value logarithm(double x, double) {
  if (x <= 0) throw ValueError("math domain error");
  return Fn(x);
}

constexpr MathRow kMathRows[] = {
    {"math.ceil", 1, whole<std::ceil>},
    {"math.floor", 1, whole<std::floor>},
    {"math.trunc", 1, whole<std::trunc>},
    {"math.sqrt", 1, real<std::sqrt>},
    {"math.exp", 1, real<std::exp>},
    {"math.expm1", 1, real<std::expm1>},
    {"math.log", 1, logarithm<std::log>},
    {"math.log1p", 1, real<std::log1p>},
    {"math.log2", 1, logarithm<std::log2>},
    {"math.log10", 1, logarithm<std::log10>},
    {"math.sin", 1, real<std::sin>},
    {"math.cos", 1, real<std::cos>},
    {"math.tan", 1, real<std::tan>},
    {"math.asin", 1, real<std::asin>},
    {"math.acos", 1, real<std::acos>},
    {"math.atan", 1, real<std::atan>},
    {"math.sinh", 1, real<std::sinh>},
    {"math.cosh", 1, real<std::cosh>},
    {"math.tanh", 1, real<std::tanh>},
    {"math.erf", 1, real<std::erf>},
    {"math.gamma", 1, real<std::tgamma>},
    {"math.lgamma", 1, real<std::lgamma>},
    {"math.fabs", 1, real<std::fabs>},
    {"math.degrees", 1,
     [](double x, double) -> Value { return x * kDegreesPerRadian; }},
    {"math.radians", 1,
     [](double x, double) -> Value { return x / kDegreesPerRadian; }},
    {"math.isnan", 1, [](double x, double) -> Value { return std::isnan(x); }},
    {"math.isinf", 1, [](double x, double) -> Value { return std::isinf(x); }},
    {"math.isfinite", 1,
     [](double x, double) -> Value { return std::isfinite(x); }},
    {"math.pow", 2, binary<std::pow>},
    {"math.atan2", 2, binary<std::atan2>},
    {"math.fmod", 2, binary<std::fmod>},
    {"math.copysign", 2, binary<std::copysign>},
    {"math.hypot", 2, binary<std::hypot>},
};

Value call(const char* name, std::initializer_list<nn::CallArg> args) {
  ValueList values;
  for (const nn::CallArg& arg : args) values.push_back(arg.value);
  return Wrapped(*find_defined_function(name), /*leaf=*/false)
      .call(std::move(values), {}, args.begin()->source);
}

}  // namespace

void visit_math_functions(const DefineFunction& define) {
  for (const MathRow& row : kMathRows)
    define(
        row.name,
        [&row](const ValueList& args, const Kwargs& kwargs) {
          check_count(row.name, args, kwargs, row.count);
          const double x = number_of(args[0]);
          return row.fn(x, row.count > 1 ? number_of(args[1]) : 0);
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
