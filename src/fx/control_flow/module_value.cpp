#include "src/fx/control_flow/module_value.h"

#include "fxjit/fx/control_flow.h"
#include "src/fx/control_flow/body_frame.h"

namespace fxjit::fx {

ModuleValue::ModuleValue(nn::ModuleRef module) : module_(std::move(module)) {}

Value ModuleValue::fx_create_arg(TracerBase& tracer) {
  return tracer.create_node(Opcode::get_attr, path_of_body(tracer, *module_), {},
                            {});
}

Value module_value(nn::ModuleRef module) {
  if (!module) throw TypeError("[module_value] module: expected one, got None");
  return Value::opaque(new ModuleValue(std::move(module)));
}

nn::ModuleRef module_of(const Value& value) {
  if (!value.is_opaque()) return {};
  const auto* const held = dynamic_cast<const ModuleValue*>(value.as_opaque());
  return held ? held->module() : nn::ModuleRef();
}

}  // namespace fxjit::fx
