#include "fxjit/nn/lambda.h"

#include "src/nn/member_value.h"

namespace fxjit::nn::detail {

void add_members(Module& module, const AttributeMap& members) {
  for (const auto& [name, member] : members) {
    if (std::holds_alternative<std::monostate>(member))
      throw TypeError("nn::lambda: member '" + name +
                      "': expected a module, Parameter, Buffer or value, got "
                      "nothing");
    register_member(module, name, member);
  }
}

}  // namespace fxjit::nn::detail
