#include "fxjit/nn/lambda.h"

namespace fxjit::nn::detail {
namespace {

struct Registration {
  Module& module;
  const std::string& name;

  void operator()(std::monostate) const {
    throw TypeError("nn::lambda: member '" + name +
                    "': expected a module, Parameter, Buffer or value, got "
                    "nothing");
  }
  void operator()(const ModuleRef& child) const {
    module.register_module(name, child);
  }
  void operator()(const Parameter& parameter) const {
    module.register_parameter(name, parameter);
  }
  void operator()(const Buffer& buffer) const {
    module.register_buffer(name, buffer);
  }
  void operator()(const Value& value) const { module.set_attr(name, value); }
};

}  // namespace

void add_members(Module& module, const AttributeMap& members) {
  for (const auto& [name, member] : members)
    std::visit(Registration{module, name}, member);
}

}  // namespace fxjit::nn::detail
