// Layer: base of the library's own modules. They are leaves of traces: a call
// is recorded as one call_module.
#pragma once

#include <string>

#include "fxjit/nn/custom.h"

namespace fxjit::nn {

class LeafModule : public DeclaredModule {
 public:
  using DeclaredModule::DeclaredModule;
  bool is_leaf() const override { return true; }
  std::string constructor_text() const override { return repr(); }
};

template <typename T>
using Layer = Custom<T, LeafModule>;

// Base of layers that hold nothing: the function of that name, a literal, of
// one tensor.
class FunctionLayer : public LeafModule {
 public:
  FunctionLayer(std::string type_name, const char* function);
  Value forward(Value input);

 private:
  const char* function_;
};

}  // namespace fxjit::nn
