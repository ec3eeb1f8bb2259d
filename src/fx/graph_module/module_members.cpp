#include "src/fx/graph_module/module_members.h"

#include <variant>

#include "src/nn/member_value.h"

namespace fxjit::fx {

bool has_member(const nn::Module& root, std::string_view path) {
  return !std::holds_alternative<std::monostate>(root.find_member(path));
}

void put_member(nn::Module& root, std::string_view path,
                const nn::Member& member) {
  std::string_view name = path;
  nn::Module* const owner = owner_or_new(root, name);
  if (!owner)
    throw UserError("[module] attribute " + std::string(path) +
                    ": expected a module on its path, got another member");
  if (owner->find_member(name).index() != member.index())
    owner->remove_member(name);
  nn::register_member(*owner, std::string(name), member);
}

nn::Member copy_member(const nn::Member& member) {
  if (const auto* parameter = std::get_if<nn::Parameter>(&member);
      parameter && parameter->defined())
    return nn::Parameter(parameter->tensor().clone(),
                         parameter->slot()->requires_grad);
  if (const auto* buffer = std::get_if<nn::Buffer>(&member);
      buffer && buffer->defined())
    return nn::Buffer(buffer->tensor().clone(), buffer->slot()->persistent);
  if (const auto* value = std::get_if<Value>(&member);
      value && value->is_tensor())
    return Value(value->as_tensor().clone());
  return member;
}

}  // namespace fxjit::fx
