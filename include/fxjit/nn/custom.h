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
// Value parameter per name. "*args" arrives as a tuple, "**kwargs" as a dict.
#pragma once

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
  const Signature& signature() const override { return signature_; }

 private:
  Signature signature_;
};

// `Base` is DeclaredModule or derived from it with the same constructor.
template <typename T, typename Base = DeclaredModule>
class Custom : public Base {
 public:
  using Base::Base;
  using Base::operator();

  template <typename... Args>
  static Ref<T> create(Args&&... args) {
    return Ref<T>(std::make_shared<T>(std::forward<Args>(args)...));
  }

  std::shared_ptr<Module> clone() const override {
    if constexpr (std::is_copy_constructible_v<T>)
      if (typeid(*this) == typeid(T))
        return std::make_shared<T>(static_cast<const T&>(*this));
    return Base::clone();
  }

  Value invoke(const ValueList& args, const Kwargs& kwargs) override {
    return invoke_bound(
        this->signature().bind(args, kwargs, this->type_name() + ".forward"));
  }
  Value invoke_bound(std::vector<Value> bound) override {
    constexpr size_t arity = kArity<decltype(&T::forward)>;
    check_arity(arity, bound.size(), this->type_name() + ".forward");
    return apply(bound, std::make_index_sequence<arity>());
  }

 private:
  template <size_t... I>
  Value apply(std::vector<Value>& bound, std::index_sequence<I...>) {
    return static_cast<T*>(this)->forward(std::move(bound[I])...);
  }
};

}  // namespace fxjit::nn
