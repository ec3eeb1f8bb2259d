// Calling typed functions of Values with a list of values.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "fxjit/error.h"
#include "fxjit/value.h"

namespace fxjit::nn {

namespace detail {
template <typename F>
struct Arity;
template <typename R, typename... Args>
struct Arity<R (*)(Args...)> : std::integral_constant<size_t, sizeof...(Args)> {
};
template <typename R, typename T, typename... Args>
struct Arity<R (T::*)(Args...)>
    : std::integral_constant<size_t, sizeof...(Args)> {};
template <typename R, typename T, typename... Args>
struct Arity<R (T::*)(Args...) const>
    : std::integral_constant<size_t, sizeof...(Args)> {};
template <typename F>
  requires requires { &F::operator(); }
struct Arity<F> : Arity<decltype(&F::operator())> {};
}  // namespace detail

// A function pointer, member function or non-generic lambda: its number of
// parameters is known.
template <typename F>
concept ValueCallable = requires { detail::Arity<std::decay_t<F>>::value; };
template <ValueCallable F>
inline constexpr size_t kArity = detail::Arity<std::decay_t<F>>::value;

// Throws UserError unless `given` equals `expected`.
void check_arity(size_t expected, size_t given, const std::string& what);

// function(values[0], values[1], ...).
template <ValueCallable F>
Value call_values(F& function, std::vector<Value>& values) {
  check_arity(kArity<F>, values.size(), "function");
  return [&]<size_t... I>(std::index_sequence<I...>) -> Value {
    return function(std::move(values[I])...);
  }(std::make_index_sequence<kArity<F>>());
}

}  // namespace fxjit::nn
