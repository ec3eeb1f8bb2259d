// Tensors by qualified name, as generated C++ code takes them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "fxjit/nn/module.h"

namespace fxjit::fx {

// A view of a state dict below a path. Copies share the names.
class Weights {
 public:
  Weights(const nn::StateDict& state);  // NOLINT: converts by intent

  // Names are below `path` from here on.
  Weights below(std::string_view path) const;
  // KeyError when absent.
  Tensor at(std::string_view name) const;
  // A layer by its type's name, constructor arguments and tensors (those at
  // `path`): see nn::make_module. UserError when sizes differ.
  nn::ModuleRef make(std::string_view type, const Kwargs& arguments,
                     std::string_view path) const;

 private:
  using Names = std::unordered_map<std::string, Tensor>;
  std::shared_ptr<const Names> names_;  // Shared by views of the same dict.
  std::string prefix_;
};

}  // namespace fxjit::fx
