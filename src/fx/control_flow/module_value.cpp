#include "fxjit/fx/control_flow.h"
#include "src/fx/control_flow/body_frame.h"

namespace fxjit::fx {
namespace {

struct ModuleValue final : TracedArgument {
  explicit ModuleValue(nn::ModuleRef module) : module(std::move(module)) {}

  Value fx_create_arg(TracerBase& tracer) override {
    return tracer.create_node(Opcode::get_attr, path_of_body(tracer, *module),
                              {}, {});
  }

  const nn::ModuleRef module;
};

}  // namespace

Value module_value(nn::ModuleRef module) {
  if (!module) throw TypeError("[module_value] module: expected one, got None");
  return Value::opaque(new ModuleValue(std::move(module)));
}

nn::ModuleRef module_of(const Value& value) {
  if (!value.is_opaque()) return {};
  const auto* const held = dynamic_cast<const ModuleValue*>(value.as_opaque());
  return held ? held->module : nn::ModuleRef();
}

}  // namespace fxjit::fx
