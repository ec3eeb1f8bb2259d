#include "fxjit/fx/weights.h"

#include "fxjit/nn/init.h"
#include "fxjit/nn/module_types.h"

namespace fxjit::fx {
namespace {

template <typename Named>
void set_tensors(const Weights& weights, const Named& named) {
  for (const auto& [name, handle] : named) {
    const Tensor tensor = weights.at(name);
    if (tensor.sizes() != handle.sizes())
      throw UserError("[weights] " + name + ": expected sizes " +
                      handle.sizes().str() + ", got " + tensor.sizes().str());
    handle.set_tensor(tensor);
  }
}

}  // namespace

Weights::Weights(const nn::StateDict& state)
    : names_(std::make_shared<const Names>(state.begin(), state.end())) {}

Weights Weights::below(std::string_view path) const {
  Weights view = *this;
  view.prefix_ += std::string(path) + ".";
  return view;
}

Tensor Weights::at(std::string_view name) const {
  const std::string full = prefix_ + std::string(name);
  const auto found = names_->find(full);
  if (found == names_->end()) throw KeyError("'" + full + "'");
  return found->second;
}

nn::ModuleRef Weights::make(std::string_view type, const Kwargs& arguments,
                            std::string_view path) const {
  nn::ModuleRef module;
  {
    const nn::SkipInit skip;
    module = nn::make_module(type, arguments);
  }
  const Weights own = below(path);
  set_tensors(own, module->named_parameters());
  set_tensors(own, module->named_buffers());
  return module;
}

}  // namespace fxjit::fx
