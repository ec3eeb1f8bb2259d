#include "tests/compile/graph_case.h"

#include <random>

#include "fxjit/fx/text.h"
#include "fxjit/fx/wrap.h"

namespace fxjit::testing {

Tensor MemoryCopies::operator()(const Tensor& t) {
  const DType type = wide_ && t.dtype() == DType::f32 ? DType::f64 : t.dtype();
  Tensor& memory = made_[t.storage().get()];
  if (!memory.defined()) {
    const auto count =
        static_cast<int64_t>(t.storage()->bytes() / t.item_size());
    const Tensor all = Tensor::view(t.storage(), {count}, t.dtype(), {1}, 0);
    memory = Tensor::empty({count}, type);
    memory.copy_from(all);
  }
  return Tensor::view(memory.storage(), t.sizes(), type, t.strides(),
                      t.offset());
}

GraphCase GraphCase::copy() const {
  return {graph->copy(), inputs, constants, view_writes, special};
}

GraphRun GraphCase::run(bool wide) const {
  MemoryCopies copies(wide);
  GraphRun made;
  nn::AttributeMap attributes;
  for (const auto& [name, value] : constants) {
    const Tensor own = copies(value);
    attributes.emplace_back(name, nn::Buffer(own));
    made.constants.push_back(own);
  }
  for (const Value& input : inputs)
    made.inputs.push_back(copies(input.as_tensor()));
  made.module = std::make_shared<fx::GraphModule>(attributes, graph->copy());
  return made;
}

std::string GraphCase::str() const {
  std::string text = fx::text(*graph) + "\n";
  const auto placeholders = graph->placeholders();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& t = inputs[i].as_tensor();
    text += std::string(placeholders[i]->name()) + ": " + t.describe() +
            " strides " + t.strides().str() + "\n";
  }
  for (const auto& [name, value] : constants)
    text += name + ": " + value.describe() + "\n";
  return text;
}

GraphCase in_parts(const GraphCase& whole, uint32_t seed) {
  static const fx::Wrapped identity =
      fx::wrap("fxjit_tests.same", [](Value x) { return x; });
  std::mt19937 random(seed);
  GraphCase made = whole.copy();
  for (fx::NodePtr node : made.graph->nodes().list()) {
    const bool call = node->is(fx::Opcode::call_function) ||
                      node->is(fx::Opcode::call_method);
    if (!call || node->num_users() == 0 || random() % 6 != 0) continue;
    auto scope = made.graph->inserting_after(node);
    const fx::NodePtr same =
        made.graph->call_function(identity.function(), ValueList{node});
    node->replace_all_uses_with(same,
                                [=](fx::NodePtr user) { return user != same; });
  }
  return made;
}

}  // namespace fxjit::testing
