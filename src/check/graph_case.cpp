#include "src/check/graph_case.h"

#include <set>

#include "fxjit/fx/interpreter.h"
#include "fxjit/fx/text.h"
#include "fxjit/nn/deep_copy.h"

namespace fxjit::checking {
namespace {

bool reads_attribute(const fx::Node& node) {
  return node.is(fx::Opcode::get_attr) || node.is(fx::Opcode::call_module);
}

std::set<std::string_view> attributes_of(const fx::Graph& graph) {
  std::set<std::string_view> names;
  for (const fx::Node* node : graph.nodes())
    if (reads_attribute(*node)) names.insert(node->target_name());
  return names;
}

// Of a module of its own, every float32 a float64.
nn::Member widened_member(const nn::Member& member) {
  const auto* const module = std::get_if<nn::ModuleRef>(&member);
  if (!module || !*module) return member;
  nn::ModuleRef copy;
  {
    nn::DeepCopy copies;
    copy = copies.module(module->ptr());
  }
  const auto widen = [](const auto& named) {
    for (const auto& [name, parameter] : named)
      if (parameter.defined() && parameter.dtype() == DType::f32)
        parameter.set_tensor(parameter.tensor().to(DType::f64));
  };
  widen(copy->named_parameters());
  widen(copy->named_buffers());
  return copy;
}

bool writes_memory(const fx::Graph& graph) {
  for (const fx::Node* node : graph.nodes())
    if (!node->is(fx::Opcode::placeholder) && !node->is(fx::Opcode::output) &&
        node->is_impure(/*impure_random=*/false))
      return true;
  return false;
}

Tensor widened_tensor(const Tensor& t) {
  return t.dtype() == DType::f32 ? t.to(DType::f64) : t;
}

}  // namespace

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

Value MemoryCopies::in(const Value& value) {
  return map_leaves(value, [&](const Value& leaf) -> Value {
    return leaf.is_tensor() ? Value((*this)(leaf.as_tensor())) : leaf;
  });
}

GraphCase GraphCase::copy() const {
  return {graph->copy(), inputs, constants, members, fixed_constants};
}

GraphRun GraphCase::run(bool wide) const {
  MemoryCopies copies(wide);
  GraphRun made;
  nn::AttributeMap attributes;
  const std::set<std::string_view> read = attributes_of(*graph);
  for (const auto& [name, value] : constants) {
    if (!read.contains(name)) continue;
    if (fixed_constants) {
      attributes.emplace_back(
          name, nn::Buffer(wide ? widened_tensor(value) : value));
      continue;
    }
    const Tensor own = copies(value);
    attributes.emplace_back(name, nn::Buffer(own));
    made.constants.push_back(own);
  }
  for (const auto& [name, member] : members)
    if (read.contains(name))
      attributes.emplace_back(name, wide ? widened_member(member) : member);
  for (const Value& input : inputs) made.inputs.push_back(copies.in(input));
  made.module = std::make_shared<fx::GraphModule>(attributes, graph->copy());
  return made;
}

std::string GraphCase::str() const {
  std::string text = fx::text(*graph) + "\n";
  const auto placeholders = graph->placeholders();
  for (size_t i = 0; i < inputs.size(); ++i) {
    text += std::string(placeholders[i]->name()) + ": ";
    if (!inputs[i].is_tensor()) {
      text += repr(inputs[i]) + "\n";
      continue;
    }
    const Tensor& t = inputs[i].as_tensor();
    text += t.describe() + " strides " + t.strides().str() + "\n";
  }
  const std::set<std::string_view> read = attributes_of(*graph);
  for (const auto& [name, value] : constants)
    if (read.contains(name)) text += name + ": " + value.describe() + "\n";
  return text;
}

GraphCase case_of(const fx::GraphModule& module,
                  std::span<const Value> inputs) {
  GraphCase made;
  made.graph = module.graph().copy();
  made.graph->set_codegen(nullptr);
  made.inputs.assign(inputs.begin(), inputs.end());
  for (const std::string_view name : attributes_of(*made.graph)) {
    nn::Member member = module.find_member(name);
    if (const auto* parameter = std::get_if<nn::Parameter>(&member);
        parameter && parameter->defined())
      made.constants.emplace_back(name, parameter->tensor());
    else if (const auto* buffer = std::get_if<nn::Buffer>(&member);
             buffer && buffer->defined())
      made.constants.emplace_back(name, buffer->tensor());
    else if (const auto* value = std::get_if<Value>(&member);
             value && value->is_tensor())
      made.constants.emplace_back(name, value->as_tensor());
    else
      made.members.emplace_back(name, std::move(member));
  }
  made.fixed_constants = !writes_memory(module.graph());
  return made;
}

bool is_impure(const GraphCase& c, const fx::Node& node) {
  if (!node.is(fx::Opcode::call_module)) return node.is_impure();
  for (const auto& [name, member] : c.members)
    if (name == node.target_name()) {
      const auto* const module = std::get_if<nn::ModuleRef>(&member);
      return !module || !*module || (*module)->is_impure();
    }
  return true;
}

Value run_on(fx::Interpreter& interpreter, const ValueList& inputs) {
  const fx::Graph& graph = interpreter.graph();
  fx::Env env(graph);
  const auto placeholders = graph.placeholders();
  for (size_t i = 0; i < placeholders.size() && i < inputs.size(); ++i)
    env.set(*placeholders[i], inputs[i]);
  return interpreter.run({}, std::move(env), /*enable_io_processing=*/false);
}

}  // namespace fxjit::checking
