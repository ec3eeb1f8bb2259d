#include "src/passes/normalize.h"

#include "src/passes/graph_builder.h"

namespace fxjit::passes {
namespace {

bool has_proxy(const Value& value) {
  bool found = false;
  visit_leaves(value,
               [&](const Value& leaf) { found = found || leaf.is_proxy(); });
  return found;
}

bool has_proxy(const ValueList& values) {
  for (const Value& value : values)
    if (has_proxy(value)) return true;
  return false;
}

class Normalizer {
 public:
  Normalizer(const fx::GraphModule& module, std::span<const Value> inputs)
      : module_(module), inputs_(inputs), builder_(GraphBuilder::Options{}) {}

  ModelGraph run() {
    values_.resize(module_.graph().id_bound());
    Value result;
    for (fx::Node* node : module_.graph().nodes()) {
      builder_.set_origin(node);
      if (node->is(fx::Opcode::output))
        result = map(node->arg(0));
      else
        values_[node->id()] = run_node(*node);
    }
    return builder_.finish(result);
  }

 private:
  Value map(const Value& value) {
    return map_leaves(value, [&](const Value& leaf) {
      return leaf.is_node() ? values_[leaf.as_node()->id()] : leaf;
    });
  }

  Value run_node(const fx::Node& node) {
    switch (node.op()) {
      case fx::Opcode::placeholder:
        return input(node);
      case fx::Opcode::get_attr:
        return attribute(node);
      default:
        break;
    }
    ValueList args;
    for (const Value& arg : node.args()) args.push_back(map(arg));
    Kwargs kwargs;
    for (const auto& [name, arg] : node.kwargs())
      kwargs.emplace_back(name, map(arg));
    return call(node, std::move(args), std::move(kwargs));
  }

  Value call(const fx::Node& node, ValueList args, Kwargs kwargs) {
    if (node.is(fx::Opcode::call_module))
      return module_.get_submodule(node.target_name())
          .forward(args, kwargs);
    const ops::Spelling* spelling = node.target().spelling();
    if (node.is(fx::Opcode::call_method)) {
      spelling = ops::find_method(node.target_name());
      if (!spelling) refuse(node, "is not a known Tensor method");
    }
    if (!spelling) refuse(node, "is not in the op table");
    if (spelling->op->row.purity == ops::Purity::mutates)
      refuse(node, "changes its argument in place");
    return call_op(*spelling, std::move(args), std::move(kwargs));
  }

  Value call_op(const ops::Spelling& spelling, ValueList args,
                Kwargs kwargs) {
    const ops::Op& op = *spelling.op;
    // Picking from a tuple of results is no work.
    if (op.name() == "getitem" && args[0].is_sequence() && args[1].is_int())
      return args[0].at(position(args[0], args[1].as_int()));
    ValueList bound = ops::bind(op, args, kwargs);
    const bool random = op.row.purity == ops::Purity::random;
    if (!has_proxy(bound) && !random) return ops::run_eager({op, bound});
    return builder_.call(op, std::move(bound));
  }

  static size_t position(const Value& sequence, int64_t index) {
    const auto count = static_cast<int64_t>(sequence.size());
    if (index < -count || index >= count)
      throw IndexError("tuple index out of range");
    return static_cast<size_t>(index < 0 ? index + count : index);
  }

  Value input(const fx::Node& node) {
    if (next_input_ >= inputs_.size())
      throw UserError("missing value for input", node.error_context());
    int part = 0;
    const Value given = meta_of(inputs_[next_input_++]);
    return map_leaves(given, [&](const Value& leaf) -> Value {
      if (!leaf.is_tensor()) return leaf;
      const Tensor& t = leaf.as_tensor();
      std::string name(node.name());
      if (part++) name += "_" + std::to_string(part);
      // The call passes the first element, wherever it lies in its storage.
      return builder_.placeholder(
          name, Tensor::meta(t.sizes(), t.dtype(), t.strides(), 0));
    });
  }

  Value attribute(const fx::Node& node) {
    const nn::Member member = module_.find_member(node.target_name());
    if (const auto* parameter = std::get_if<nn::Parameter>(&member))
      return builder_.constant(parameter->tensor());
    if (const auto* buffer = std::get_if<nn::Buffer>(&member))
      return builder_.constant(buffer->tensor());
    const auto* value = std::get_if<Value>(&member);
    if (!value) refuse(node, "names no parameter, buffer or attribute");
    return value->is_tensor() ? builder_.constant(value->as_tensor())
                              : *value;
  }

  [[noreturn]] static void refuse(const fx::Node& node, const char* why) {
    throw NotImplementedError("[" + std::string(node.target_name()) + " %" +
                                  std::string(node.name()) +
                                  "] cannot be compiled: the target " + why,
                              node.error_context());
  }

  const fx::GraphModule& module_;
  std::span<const Value> inputs_;
  size_t next_input_ = 0;
  GraphBuilder builder_;
  std::vector<Value> values_;
};

}  // namespace

ModelGraph normalize(const fx::GraphModule& module,
                     std::span<const Value> inputs) {
  return Normalizer(module, inputs).run();
}

}  // namespace fxjit::passes
