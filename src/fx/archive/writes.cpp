#include "src/fx/archive/writes.h"

#include <nlohmann/json.hpp>

namespace fxjit::fx::archive {

bool writes_in_place(const Node& node) {
  if (!node.is(Opcode::call_function) && !node.is(Opcode::call_method))
    return false;
  const Value* const inplace = node.find_kwarg("inplace");
  return node.is_impure(false) || (inplace && !inplace->is_none());
}

bool keeps_statistics(const nlohmann::json& module) {
  const auto type = module.find("type"), training = module.find("training");
  return type != module.end() && type->is_string() &&
         type->get<std::string>().starts_with("BatchNorm") &&
         training != module.end() && training->is_boolean() &&
         training->get<bool>();
}

}  // namespace fxjit::fx::archive
