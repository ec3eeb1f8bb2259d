#include "src/passes/normalize.h"

#include "src/passes/graph_builder.h"
#include "src/passes/memory_classes.h"

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

// Of a call: known ones as well.
bool has_tensor(const ValueList& values) {
  bool found = false;
  for (const Value& value : values)
    visit_leaves(value, [&](const Value& leaf) {
      found = found || leaf.is_proxy() || leaf.is_tensor();
    });
  return found;
}

class Normalizer {
 public:
  Normalizer(const fx::GraphModule& module, std::span<const Value> inputs)
      : module_(module),
        inputs_(inputs),
        builder_(GraphBuilder::Options{}),
        memory_(module.graph()) {
    builder_.on_write([this](const ops::Op& op, ValueList args) {
      return write_in_module(op, std::move(args));
    });
  }

  ModelGraph run() {
    values_.resize(module_.graph().id_bound());
    Value result;
    for (fx::Node* node : module_.graph().nodes()) {
      builder_.set_origin(node);
      if (node->is(fx::Opcode::output)) {
        result = map(node->arg(0));
        continue;
      }
      fresh_ = true;
      written_ = nullptr;
      values_[node->id()] = run_node(*node);
      if (written_)
        finish_write(*node);
      else
        memory_.add(*node, fresh_ || !has_tensor({values_[node->id()]}));
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
      return call_module(node, args, kwargs);
    const ops::Spelling* spelling = node.target().spelling();
    if (node.is(fx::Opcode::call_method)) {
      spelling = ops::find_method(node.target_name());
      if (!spelling) refuse(node, "is not a known Tensor method");
    }
    if (!spelling) refuse(node, "is not in the op table");
    return call_op(node, *spelling->op, std::move(args), std::move(kwargs));
  }

  Value call_module(const fx::Node& node, const ValueList& args,
                    const Kwargs& kwargs) {
    const int64_t before = builder_.calls();
    const Value result =
        module_.get_submodule(node.target_name()).forward(args, kwargs);
    // What a module that writes does besides cannot be told.
    if (written_ && builder_.calls() != before + 1) refuse_write(node);
    // Nor what one of several calls gave; one call is as that call.
    fresh_ = builder_.calls() == before + 1 && builder_.last_op() &&
             gives_fresh_memory(*builder_.last_op());
    return result;
  }

  Value write_in_module(const ops::Op& op, ValueList args) {
    const fx::Node& node = *builder_.origin();
    const bool first_argument =
        !node.args().empty() && node.arg(0).is_node() &&
        GraphBuilder::node_of(args[0]) ==
            GraphBuilder::node_of(values_[node.arg_node(0)->id()]);
    if (!node.is(fx::Opcode::call_module) || !first_argument)
      refuse_write(node);
    return write(node, op, std::move(args));
  }

  // The call without its write, where nobody but later readers of the argument
  // itself could tell: they read the result.
  Value write(const fx::Node& node, const ops::Op& op, ValueList args) {
    if (node.args().empty() || !node.arg(0).is_node() ||
        !memory_.may_replace(node, *node.arg_node(0)))
      refuse_write(node);
    written_ = node.arg_node(0);
    const Tensor before = meta_of(args[0]).as_tensor();
    ValueList metas;
    for (const Value& arg : args) metas.push_back(meta_of(arg));
    ops::infer({op, metas});  // Whether the result fits its place.
    const ops::Op& pure = without_write(node, op, args);
    Value result = builder_.call(pure, std::move(args));
    if (meta_of(result).as_tensor().dtype() != before.dtype())
      result = builder_.call(
          ops::get_op("to"),
          ops::bind(ops::get_op("to"), ValueList{result, before.dtype()}, {}));
    const Tensor after = meta_of(result).as_tensor();
    if (after.sizes() != before.sizes() || after.strides() != before.strides())
      refuse_write(node);
    return result;
  }

  // Changes `args` where the write is asked for by an argument.
  const ops::Op& without_write(const fx::Node& node, const ops::Op& op,
                               ValueList& args) {
    if (const int flag = op.index_of("inplace"); flag >= 0)
      args[static_cast<size_t>(flag)] = false;
    if (!ops::writes_input({op, args})) return op;
    const std::string_view name = op.name();
    const ops::Op* pure =
        name.ends_with('_') ? ops::find_op(name.substr(0, name.size() - 1))
                            : nullptr;
    if (!pure || pure->row.schema != op.row.schema) refuse_write(node);
    return *pure;
  }

  void finish_write(const fx::Node& node) {
    memory_.add_write(node, *written_);
    for (const fx::Node* same : memory_.same_value(*written_))
      values_[same->id()] = values_[node.id()];
  }

  Value call_op(const fx::Node& node, const ops::Op& op, ValueList args,
                Kwargs kwargs) {
    fresh_ = gives_fresh_memory(op);
    // Picking from a tuple of results is no work.
    if (op.name() == "getitem" && args[0].is_sequence() && args[1].is_int())
      return args[0].at(position(args[0], args[1].as_int()));
    ValueList bound = ops::bind(op, args, kwargs);
    const bool random = op.row.purity == ops::Purity::random;
    if (!has_tensor(bound)) fresh_ = true;
    if (!has_proxy(bound) && !random) return ops::run_eager({op, bound});
    if (ops::writes_input({op, bound})) return write(node, op, std::move(bound));
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

  [[noreturn]] static void refuse_write(const fx::Node& node) {
    refuse(node, "changes in place what others may see");
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
  MemoryClasses memory_;
  // Of the node at hand: its result is memory of its own; what it wrote.
  bool fresh_ = true;
  const fx::Node* written_ = nullptr;
};

}  // namespace

ModelGraph normalize(const fx::GraphModule& module,
                     std::span<const Value> inputs) {
  return Normalizer(module, inputs).run();
}

}  // namespace fxjit::passes
