// Custom: base of modules written by users, which have a typed forward:
//
//   class Mlp : public nn::Custom<Mlp> {
//    public:
//     Mlp() : Custom("Mlp", {"x", {"scale", 1.0}}) {
//       up = register_module("up", nn::Linear::create(4, 8));
//     }
//     Value forward(Value x, Value scale) { return up(x) * scale; }
//     nn::Ref<nn::Linear> up;
//   };
//   auto mlp = Mlp::create();
//
// The declared names bind positional and keyword arguments; forward has one
// Value parameter per name. "*args" arrives as a tuple, "**kwargs" as a dict;
// "*" alone, which has no parameter, makes those behind it keyword-only. For a
// module without a class there is nn::lambda.
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "fxjit/nn/call_values.h"
#include "fxjit/nn/module.h"

namespace fxjit::nn {

// Base of Custom and of the library's own layers: keeps the signature.
class DeclaredModule : public Module {
 public:
  DeclaredModule(std::string type_name, Signature signature);
  DeclaredModule(const DeclaredModule&);
  ~DeclaredModule() override;
  const Signature& signature() const override { return signature_; }

 protected:
  // Binds the arguments of a call to the declared names.
  Value bind_and_invoke(const ValueList& args, const Kwargs& kwargs);
  // UserError unless forward takes as many values as names are declared.
  void check_forward(size_t parameters, size_t values) const;

 private:
  Signature signature_;
};

namespace detail {

// A handle that owns `module`, as a Module: one control block for all classes.
template <typename T>
std::shared_ptr<T> owned(T* module) {
  std::shared_ptr<Module> owner(static_cast<Module*>(module));
  return std::shared_ptr<T>(std::move(owner), module);
}

template <typename T>
concept HasOneForward = requires { &T::forward; };

// Says in words what is wrong with a class that derives from Custom.
template <typename T>
constexpr bool check_forward() {
  static_assert(HasOneForward<T>,
                "nn::Custom: forward must be one public function, neither "
                "overloaded nor a template: `Value forward(Value x)`");
  if constexpr (HasOneForward<T>) {
    using Forward = decltype(&T::forward);
    constexpr bool own = !std::same_as<Forward, decltype(&Module::forward)>;
    static_assert(own,
                  "nn::Custom: this class has no forward; write `Value "
                  "forward(Value x)` with a parameter per declared name");
    if constexpr (own) {
      using Known = CallableOf<Forward>;
      static_assert(!std::is_void_v<typename Known::Result>,
                    "nn::Custom: forward returns nothing; return a Value, None "
                    "where there is nothing to return");
      static_assert(Known::kTakesValues,
                    "nn::Custom: a parameter of forward does not take a Value; "
                    "all of them must be `Value` or `const Value&`");
      return !std::is_void_v<typename Known::Result> && Known::kTakesValues;
    }
  }
  return false;
}

}  // namespace detail

// `Base` is DeclaredModule or derived from it with the same constructor.
template <typename T, typename Base = DeclaredModule>
class Custom : public Base {
 public:
  using Base::Base;
  using Base::operator();

  // Refused: Python finds the names of forward's arguments, C++ does not.
  Custom() : Base("", Signature()) {
    static_assert(detail::kNever<T>,
                  "nn::Custom: the names of forward's arguments are missing; "
                  "write a constructor `M() : Custom(\"M\", {\"x\"}) {}`");
  }
  template <std::convertible_to<std::string> Name>
  explicit Custom(Name&&) : Base("", Signature()) {
    static_assert(detail::kNever<Name>,
                  "nn::Custom: the names of forward's arguments are missing "
                  "behind the name of the class: `Custom(\"M\", {\"x\"})`");
  }

  template <typename... Args>
  static Ref<T> create(Args&&... args) {
    return Ref<T>(detail::owned(new T(std::forward<Args>(args)...)));
  }

  std::shared_ptr<Module> clone() const override {
    if constexpr (std::is_copy_constructible_v<T>)
      if (typeid(*this) == typeid(T))
        return detail::owned(new T(static_cast<const T&>(*this)));
    return Base::clone();
  }

  Value invoke(const ValueList& args, const Kwargs& kwargs) override {
    return this->bind_and_invoke(args, kwargs);
  }
  Value invoke_bound(std::vector<Value> bound) override {
    if constexpr (detail::check_forward<T>()) {
      constexpr size_t arity = kArity<decltype(&T::forward)>;
      this->check_forward(arity, bound.size());
      return apply(bound, std::make_index_sequence<arity>());
    }
    return None;
  }

 private:
  template <size_t... I>
  Value apply(std::vector<Value>& bound, std::index_sequence<I...>) {
    return static_cast<T*>(this)->forward(std::move(bound[I])...);
  }
};

}  // namespace fxjit::nn
