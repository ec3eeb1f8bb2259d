#include "src/passes/normalize.h"

#include "fxjit/fx/wrap.h"
#include "fxjit/nn/module_types.h"
#include "src/nn/member_value.h"
#include "src/passes/graph_builder.h"
#include "src/passes/memory_classes.h"
#include "src/passes/result_owners.h"
#include "src/passes/set_items.h"

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
  explicit Normalizer(const PartRequest& request)
      : request_(request),
        module_(request.module),
        builder_({.changing = &request.changing}),
        values_(request.order.size()),
        have_(request.order.size()),
        memory_(request.order),
        owners_(values_, builder_) {
    builder_.on_write([this](const ops::Op& op, ValueList args) {
      return write_in_module(op, std::move(args));
    });
  }

  Part run() {
    const fx::Graph& graph = module_.graph();
    if (!request_.begin)
      for (const fx::Node* node : graph.placeholders()) read_outside(*node);
    const fx::Node* node =
        request_.begin ? request_.begin : *graph.nodes().begin();
    for (; !node->is(fx::Opcode::root); node = node->next()) {
      if (node->is(fx::Opcode::output)) return finish(node->arg(0));
      if (node == request_.limit || !take_in(*node)) return stop_at(*node);
    }
    return finish(None);
  }

 private:
  // False when the node ends the part.
  bool take_in(const fx::Node& node) {
    if (node.is(fx::Opcode::placeholder) || node.is(fx::Opcode::get_attr))
      return true;  // Read where they are used.
    builder_.set_origin(&node);
    fresh_ = true;
    written_ = nullptr;
    Value& value = values_[node.id()];
    try {
      value = run_node(node);
    } catch (const Error& error) {
      if (!ends_part(node, error)) throw;
      part_.why = std::current_exception();
      return false;
    }
    have_[node.id()] = true;
    if (written_) {
      finish_write(node);
      return true;
    }
    fresh_ = fresh_ || !has_tensor({value});
    memory_.add(node, fresh_);
    owners_.add(node, fresh_);
    return true;
  }

  // Any other error is the user's, or ours; but what a module of the user's
  // does with proxies need not be one: real tensors will tell.
  bool ends_part(const fx::Node& node, const Error& error) const {
    if (dynamic_cast<const NotImplementedError*>(&error)) return true;
    if (dynamic_cast<const InternalError*>(&error) ||
        !node.is(fx::Opcode::call_module))
      return false;
    const nn::ModuleType* type =
        nn::find_module_type(module_.get_submodule(node.target_name()));
    return !type || !type->transparent;
  }

  Part stop_at(const fx::Node& node) {
    part_.stop = &node;
    ValueList results;
    const fx::Node* made =
        request_.begin ? request_.begin : *module_.graph().nodes().begin();
    for (; made != &node; made = made->next())
      if (have_[made->id()] && is_read_from(*made, node)) {
        part_.outputs.push_back(made);
        results.emplace_back(const_cast<fx::Node*>(made));
      }
    return finish(Value::tuple(std::move(results)));
  }

  bool is_read_from(const fx::Node& made, const fx::Node& stop) const {
    if (made.is(fx::Opcode::placeholder) || made.is(fx::Opcode::get_attr))
      return false;  // Known there as well.
    for (const fx::Node* user : made.users())
      if (request_.order[user->id()] >= request_.order[stop.id()]) return true;
    return false;
  }

  Part finish(const Value& captured) {
    const Value result = map(captured);
    std::vector<int32_t> owners = owners_.of(captured);
    part_.model = builder_.finish(result);
    part_.model.result_owners = std::move(owners);
    return std::move(part_);
  }

  Value map(const Value& value) {
    return map_leaves(value, [&](const Value& leaf) {
      if (!leaf.is_node()) return leaf;
      const fx::Node& node = *leaf.as_node();
      if (!have_[node.id()]) read_outside(node);
      return values_[node.id()];
    });
  }

  void read_outside(const fx::Node& node) {
    have_[node.id()] = true;
    values_[node.id()] = node.is(fx::Opcode::get_attr)
                             ? attribute(node)
                             : input(node, request_.known(node));
  }

  Value run_node(const fx::Node& node) {
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
    if (node.target_name() == "_operator.setitem" ||
        node.target_name() == "__setitem__")
      return set_item(node, args);
    const ops::Spelling* spelling = node.target().spelling();
    if (node.is(fx::Opcode::call_method)) {
      spelling = ops::find_method(node.target_name());
      if (!spelling) refuse(node, "is not a known Tensor method");
    }
    if (const fx::Function* function = node.target().function())
      return call_python(node, *function, std::move(args), std::move(kwargs));
    if (!spelling) refuse(node, "is not in the op table");
    return call_op(node, *spelling->op, std::move(args), std::move(kwargs));
  }

  // Python's own functions on what is known beforehand.
  Value call_python(const fx::Node& node, const fx::Function& function,
                    ValueList args, const Kwargs& kwargs) {
    if (!fx::is_python_function(function.name))
      refuse(node, "is not in the op table");
    if (function.name == "builtins.len") args = meta_of(args).as_sequence();
    bool data = function.name != "builtins.len" && has_tensor(args);
    for (const auto& [name, arg] : kwargs) data = data || has_tensor({arg});
    if (data) refuse(node, "needs the numbers of its arguments");
    try {
      return function.run(args, kwargs);
    } catch (const UserError&) {
      refuse(node, "fails");  // As it will when it is run.
    }
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

  Value set_item(const fx::Node& node, const ValueList& args) {
    if (args.size() != 3 || !args[0].is_proxy() || !node.arg(0).is_node() ||
        !memory_.may_replace(node, *node.arg_node(0)))
      refuse_write(node);
    const Value result = with_items(args[0], args[1], args[2]);
    for (const fx::Node* same : memory_.same_value(*node.arg_node(0)))
      values_[same->id()] = result;
    return None;
  }

  // Changes `args` where the write is asked for by an argument.
  const ops::Op& without_write(const fx::Node& node, const ops::Op& op,
                               ValueList& args) {
    if (const int flag = op.index_of("inplace"); flag >= 0)
      args[static_cast<size_t>(flag)] = false;
    if (!ops::writes_input({op, args})) return op;
    const std::string_view name = op.name();
    const ops::Op* pure = name.ends_with('_')
                              ? ops::find_op(name.substr(0, name.size() - 1))
                              : nullptr;
    if (!pure || std::string_view(pure->row.schema) != op.row.schema)
      refuse_write(node);
    return *pure;
  }

  void finish_write(const fx::Node& node) {
    memory_.add_write(node, *written_);
    owners_.add_write(node, *written_);
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
    if (ops::writes_input({op, bound}) && has_tensor({bound[0]}))
      return write(node, op, std::move(bound));
    if (!has_proxy(bound) && !random) return ops::run_eager({op, bound});
    return builder_.call(op, std::move(bound));
  }

  static size_t position(const Value& sequence, int64_t index) {
    const auto count = static_cast<int64_t>(sequence.size());
    if (index < -count || index >= count)
      throw IndexError("tuple index out of range");
    return static_cast<size_t>(index < 0 ? index + count : index);
  }

  Value input(const fx::Node& node, const Value& known) {
    part_.inputs.push_back(&node);
    int count = 0;
    return map_leaves(known, [&](const Value& leaf) -> Value {
      if (!leaf.is_tensor()) return leaf;
      const Tensor& t = leaf.as_tensor();
      std::string name(node.name());
      if (count++) name += "_" + std::to_string(count);
      // The call passes the first element, wherever it lies in its storage.
      return builder_.placeholder(
          name, Tensor::meta(t.sizes(), t.dtype(), t.strides(), 0));
    });
  }

  Value attribute(const fx::Node& node) {
    const auto value =
        nn::member_value(module_.find_member(node.target_name()));
    if (!value) refuse(node, "names no parameter, buffer or attribute");
    if (!value->is_tensor()) return *value;
    const Tensor& tensor = value->as_tensor();
    return request_.changing.contains(tensor.storage().get())
               ? input(node, *value)
               : builder_.constant(tensor);
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

  const PartRequest& request_;
  const fx::GraphModule& module_;
  Part part_;
  GraphBuilder builder_;
  std::vector<Value> values_;  // By node id; of those outside once read.
  std::vector<bool> have_;
  MemoryClasses memory_;
  ResultOwners owners_;
  // Of the node at hand: its result is memory of its own; what it wrote.
  bool fresh_ = true;
  const fx::Node* written_ = nullptr;
};

}  // namespace

std::vector<int32_t> node_order(const fx::Graph& graph) {
  std::vector<int32_t> order(graph.id_bound());
  int32_t next = 0;
  for (const fx::Node* node : graph.nodes()) order[node->id()] = next++;
  return order;
}

Part normalize_part(const PartRequest& request) {
  return Normalizer(request).run();
}

ModelGraph normalize(const fx::GraphModule& module,
                     std::span<const Value> inputs) {
  const std::vector<int32_t> order = node_order(module.graph());
  const std::vector<fx::Node*> placeholders = module.graph().placeholders();
  std::vector<const Value*> known(order.size());
  for (size_t i = 0; i < placeholders.size() && i < inputs.size(); ++i)
    known[placeholders[i]->id()] = &inputs[i];
  const auto value_of = [&](const fx::Node& node) -> const Value& {
    if (const Value* value = known[node.id()]) return *value;
    throw UserError("missing value for input", node.error_context());
  };
  Part part = normalize_part({module, order, nullptr, nullptr, value_of, {}});
  if (part.why) std::rethrow_exception(part.why);
  return std::move(part.model);
}

}  // namespace fxjit::passes
