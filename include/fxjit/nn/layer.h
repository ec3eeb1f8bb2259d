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

// Base of layers that call one function: by that name, with a tensor and behind
// it the settings. The printed form has these as "name=value", or "value" where
// the name is empty.
class FunctionLayer : public LeafModule {
 public:
  FunctionLayer(std::string type_name, std::string function,
                Kwargs settings = {});
  Value forward(Value input);
  std::string extra_repr() const override;

 private:
  std::string function_;
  Kwargs settings_;
};

}  // namespace fxjit::nn
