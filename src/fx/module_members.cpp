#include "src/fx/module_members.h"

#include <memory>
#include <variant>

#include "src/nn/member_value.h"

namespace fxjit::fx {
namespace {

nn::Module& child_or_new(nn::Module& module, std::string_view name,
                         std::string_view path) {
  const nn::Member member = module.find_member(name);
  if (const auto* child = std::get_if<nn::ModuleRef>(&member)) return **child;
  if (!std::holds_alternative<std::monostate>(member))
    throw UserError("[module] attribute " + std::string(path) +
                    ": expected a module on its path, got another member");
  return *module.register_module(
      std::string(name), nn::ModuleRef(std::make_shared<nn::Module>()));
}

}  // namespace

bool has_member(const nn::Module& root, std::string_view path) {
  return !std::holds_alternative<std::monostate>(root.find_member(path));
}

void put_member(nn::Module& root, std::string_view path,
                const nn::Member& member) {
  nn::Module* owner = &root;
  std::string_view name = path;
  for (size_t dot = name.find('.'); dot != name.npos; dot = name.find('.')) {
    owner = &child_or_new(*owner, name.substr(0, dot), path);
    name.remove_prefix(dot + 1);
  }
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
