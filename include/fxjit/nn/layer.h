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

}  // namespace fxjit::nn
