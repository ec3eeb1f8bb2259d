// Deep copies of modules: new modules all the way down, with tensors of their
// own. What was shared inside the tree is shared inside the copy.
//
// A module is copied by its class's copy constructor. While a DeepCopy is alive
// in the thread, copying a handle (Ref, Parameter, Buffer) gives the handle of
// the copy, so classes need not do anything for it. Functions registered by
// `register_method` are copied as they are: those that name their object go on
// naming the original.
#pragma once

#include <memory>

#include "fxjit/tensor.h"
#include "fxjit/value.h"

namespace fxjit::nn {

class Module;
struct TensorSlot;

class DeepCopy {
 public:
  DeepCopy();
  ~DeepCopy();
  DeepCopy(const DeepCopy&) = delete;
  DeepCopy& operator=(const DeepCopy&) = delete;
  // The one of this thread; null when there is none.
  static DeepCopy* active();

  // The counterpart of each, made at the first request. NotImplementedError
  // naming a module whose class cannot be copied.
  std::shared_ptr<Module> module(const std::shared_ptr<Module>& original);
  std::shared_ptr<TensorSlot> slot(const std::shared_ptr<TensorSlot>& original);
  // Tensors inside containers too.
  Value value(const Value& original);

 private:
  Tensor tensor(const Tensor& original);

  struct Copies;
  DeepCopy* previous_;
  std::unique_ptr<Copies> copies_;
};

namespace detail {

// The handle that a copied Ref gets.
template <typename T>
std::shared_ptr<T> copied_handle(const std::shared_ptr<T>& module) {
  DeepCopy* const copy = DeepCopy::active();
  if (!copy || !module) [[likely]]
    return module;
  return std::dynamic_pointer_cast<T>(copy->module(module));
}

}  // namespace detail

// A deep copy of one module.
std::shared_ptr<Module> deep_copy(const Module& module);
// ... of the type that is known of it.
template <typename T>
std::shared_ptr<T> deep_copy_as(const T& module) {
  return std::dynamic_pointer_cast<T>(
      deep_copy(static_cast<const Module&>(module)));
}

}  // namespace fxjit::nn
