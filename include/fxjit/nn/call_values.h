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

class Module;
template <typename T>
class Ref;

namespace detail {
// What is known of a function: its parameters and its result.
template <typename R, typename... Args>
struct Callable {
  using Result = R;
  static constexpr size_t kArity = sizeof...(Args);
  static constexpr bool kTakesValues =
      (std::convertible_to<Value, Args> && ...);
};
template <typename F>
struct CallableOf;
#define FXJIT_CALLABLE_OF(qualifiers)                 \
  template <typename R, typename T, typename... Args> \
  struct CallableOf<R (T::*)(Args...) qualifiers> : Callable<R, Args...> {};
FXJIT_CALLABLE_OF()
FXJIT_CALLABLE_OF(const)
FXJIT_CALLABLE_OF(noexcept)
FXJIT_CALLABLE_OF(const noexcept)
#undef FXJIT_CALLABLE_OF
template <typename R, typename... Args>
struct CallableOf<R (*)(Args...)> : Callable<R, Args...> {};
template <typename R, typename... Args>
struct CallableOf<R (*)(Args...) noexcept> : Callable<R, Args...> {};
template <typename F>
  requires requires { &F::operator(); }
struct CallableOf<F> : CallableOf<decltype(&F::operator())> {};

template <typename F>
inline constexpr bool kIsModule = std::is_base_of_v<Module, F>;
template <typename T>
inline constexpr bool kIsModule<Ref<T>> = true;

// For assertions that fail wherever they are instantiated.
template <typename...>
inline constexpr bool kNever = false;
}  // namespace detail

// A function pointer, member function or non-generic lambda: its number of
// parameters is known.
template <typename F>
concept ValueCallable =
    requires { detail::CallableOf<std::decay_t<F>>::kArity; };
template <ValueCallable F>
inline constexpr size_t kArity = detail::CallableOf<std::decay_t<F>>::kArity;

// An object whose call is a template or overloaded. Modules are called in other
// ways.
template <typename F>
concept UnknownCallable =
    std::is_class_v<F> && !ValueCallable<F> && !detail::kIsModule<F> &&
    (requires(F& f, Value v) { f(v); } ||
     requires(F& f, Value v) { f(v, v); } ||
     requires(F& f, Value v) { f(v, v, v); } ||
     requires(F& f, Value v) { f(v, v, v, v); });

#define FXJIT_UNKNOWN_CALLABLE                                               \
  "fxjit: this function is a generic lambda or has several operator(); its " \
  "parameters must be known: write `Value x` in place of `auto x`"

// Says in words what is wrong with a function that Values are to be given to.
template <ValueCallable F>
constexpr bool check_callable() {
  using Known = detail::CallableOf<std::decay_t<F>>;
  static_assert(!std::is_void_v<typename Known::Result>,
                "fxjit: this function returns nothing; return a Value, None "
                "where there is nothing to return");
  static_assert(std::is_void_v<typename Known::Result> ||
                    std::convertible_to<typename Known::Result, Value>,
                "fxjit: what this function returns does not convert to Value");
  static_assert(Known::kTakesValues,
                "fxjit: a parameter of this function does not take a Value; "
                "all of them must be `Value` or `const Value&`");
  return !std::is_void_v<typename Known::Result> && Known::kTakesValues;
}

// Throws UserError unless `given` equals `expected`.
void check_arity(size_t expected, size_t given, const std::string& what);

// function(values[0], values[1], ...).
template <ValueCallable F>
Value call_values(F& function, std::vector<Value>& values) {
  if constexpr (check_callable<F>()) {
    check_arity(kArity<F>, values.size(), "function");
    return [&]<size_t... I>(std::index_sequence<I...>) -> Value {
      return function(std::move(values[I])...);
    }(std::make_index_sequence<kArity<F>>());
  }
  return None;
}

}  // namespace fxjit::nn
