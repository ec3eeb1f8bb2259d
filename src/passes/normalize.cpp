#include "src/passes/normalize.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "fxjit/fx/wrap.h"
#include "fxjit/nn/module_types.h"
#include "src/fx/graph/node_aliasing.h"
#include "src/fx/graph/written_values.h"
#include "src/fx/tracing/builtins.h"
#include "src/nn/member_value.h"
#include "src/ops/table/aliasing.h"
#include "src/ops/table/data_dependent.h"
#include "src/ops/table/randomness.h"
#include "src/passes/control_flow.h"
#include "src/passes/lowering/graph_builder.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/memory/followed_writes.h"
#include "src/passes/memory/memory_classes.h"
#include "src/passes/memory/result_memory.h"
#include "src/passes/origins.h"
#include "src/tensor/memory_order.h"
#include "src/tensor/sizes/named.h"
#include "src/tensor/sizes/table.h"

namespace fxjit::passes {
namespace {

bool has_proxy(const ValueList& values) {
  bool found = false;
  for (const Value& value : values)
    visit_leaves(value,
                 [&](const Value& leaf) { found = found || leaf.is_proxy(); });
  return found;
}

// Whether a call has a tensor among its arguments, known ones included.
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
        builder_({.changing = &request.changing,
                  .is_written = [this] { return is_written(); }}),
        values_(request.order.size()),
        have_(request.order.size()),
        memory_(request.order, values_, builder_),
        writes_(builder_, memory_) {
    builder_.on_control(
        [this](const fx::ControlCall& call) { return call_control(call); });
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
    const SizeTable::Asker asker(&node, line_of);
    writes_.begin();
    Value& value = values_[node.id()];
    try {
      value = run_node(node);
    } catch (const Error& error) {
      if (!ends_part(node, error)) throw;
      part_.why = std::current_exception();
      return false;
    }
    have_[node.id()] = true;
    writes_.apply(node, value);
    memory_.add(node);
    return true;
  }

  bool is_written() const {
    const std::vector<bool> written = fx::written_values(module_);
    return std::find(written.begin(), written.end(), true) != written.end();
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
    const Value result = laid_out(map(captured));
    PlacedResult placed = place_result(builder_, result);
    writes_.add_to(result, placed);
    part_.model = builder_.finish(placed.value);
    part_.model.results = std::move(placed.memory);
    part_.model.written = writes_.written_inputs();
    return std::move(part_);
  }

  // The results of a body lie as the call around it says.
  Value laid_out(const Value& result) {
    if (request_.layouts.empty()) return result;
    size_t next = 0;
    return map_leaves(result, [&](const Value& leaf) -> Value {
      if (!leaf.is_proxy() && !leaf.is_tensor()) return leaf;
      const Dims& strides = request_.layouts.at(next++);
      const bool there = meta_of(leaf).as_tensor().strides() == strides;
      return there ? leaf : builder_.call(layout_op(), {leaf, strides});
    });
  }

  Value map(const Value& value) {
    return map_leaves(value, [&](const Value& leaf) {
      if (leaf.is_tensor()) builder_.hold_outside(leaf.as_tensor());
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
    memory_.add(node);
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
    if (fx::assigns_item(node)) return writes_.set_item(node, args);
    const ops::Spelling* spelling = node.target().spelling();
    if (node.is(fx::Opcode::call_method)) {
      spelling = ops::find_method(node.target_name());
      if (!spelling) refuse(node, "is not a known Tensor method");
    }
    if (const fx::Function* function = node.target().function())
      return call_python(node, *function, std::move(args), std::move(kwargs));
    if (!spelling) refuse(node, "is not in the op table");
    return call_op(node, *spelling, std::move(args), std::move(kwargs));
  }

  // Python's own functions on what is known beforehand.
  Value call_python(const fx::Node& node, const fx::Function& function,
                    ValueList args, const Kwargs& kwargs) {
    if (const fx::ControlFlow* kind = fx::find_control_flow(&function))
      return call_control(fx::control_call(*kind, args, kwargs));
    if (!fx::is_python_function(function.name))
      refuse(node, "is not in the op table");
    const bool sizes_only = fx::reads_sizes_only(function);
    if (sizes_only) args = meta_of(args);
    bool data = !sizes_only && has_tensor(args);
    for (const auto& [name, arg] : kwargs) data = data || has_tensor({arg});
    if (data)
      throw ops::DataDependentError(
          std::string(function.name) + ": needs the numbers of its arguments",
          node.error_context());
    try {
      return function.run(args, kwargs);
    } catch (const UserError&) {
      refuse(node, "fails");  // As it will when it is run.
    }
  }

  // A branch that is known now is a part of this graph.
  Value call_control(const fx::ControlCall& call) {
    if (call.kind == fx::ControlFlow::cond)
      if (const auto known = known_flag(call.pred))
        return own(call.bodies[*known ? 0 : 1]->forward(call.operands),
                   call.operands);
    return passes::call_control(builder_, call);
  }

  // Results of a branch that share memory with what it got, as copies.
  Value own(const Value& results, const ValueList& given) {
    const auto is_data = [](const Value& leaf) {
      return leaf.is_proxy() || leaf.is_tensor();
    };
    return map_leaves(results, [&](const Value& leaf) -> Value {
      if (!is_data(leaf)) return leaf;
      const bool shared =
          std::any_of(given.begin(), given.end(), [&](const Value& value) {
            return is_data(value) &&
                   builder_.memory_of(value).id == builder_.memory_of(leaf).id;
          });
      return shared ? ops::call_method("clone", {leaf}) : leaf;
    });
  }

  std::optional<bool> known_flag(const Value& pred) const {
    if (pred.is_number()) return static_cast<bool>(pred);
    const Tensor* const constant =
        pred.is_tensor() ? &pred.as_tensor() : builder_.constant_of(pred);
    if (!constant || constant->numel() != 1) return std::nullopt;
    return static_cast<bool>(Value(*constant));
  }

  Value call_module(const fx::Node& node, const ValueList& args,
                    const Kwargs& kwargs) {
    const int64_t before = builder_.calls();
    const Value result =
        module_.get_submodule(node.target_name()).forward(args, kwargs);
    // What a module that writes does besides cannot be told.
    if (writes_.any() && builder_.calls() != before + 1) refuse_write(node);
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
    return writes_.write(node, op, std::move(args));
  }

  Value call_op(const fx::Node& node, const ops::Spelling& spelling,
                const ValueList& args, const Kwargs& kwargs) {
    const ops::Op& op = *spelling.op;
    ValueList bound = ops::bind(spelling, args, kwargs);
    // Picking from a tuple of results is no work.
    const bool indexes = ops::aliasing(op) == ops::Aliasing::item;
    if (indexes && bound[0].is_sequence() && !has_tensor({bound[1]}))
      return op.row.decompose({op, bound});
    if (indexes && is_view_of_unknown_place(op, bound) && is_returned(node))
      refuse(node, "views a place that only its numbers tell");
    if (ops::writes_input({op, bound}) && has_tensor({bound[0]}))
      return writes_.write(node, op, std::move(bound));
    if (!has_proxy(bound) && !ops::draws_numbers({op, bound}) &&
        !has_name(Value::tuple(bound)))
      return ops::run_eager({op, bound});
    return builder_.call(op, std::move(bound));
  }

  static bool is_view_of_unknown_place(const ops::Op& op,
                                       const ValueList& bound) {
    const ValueList metas{meta_of(bound[0]), meta_of(bound[1])};
    bool number = false;
    visit_leaves(metas[1], [&](const Value& leaf) {
      number = number || (leaf.is_tensor() && leaf.as_tensor().dim() == 0);
    });
    if (!number) return false;
    const ops::OpCall call{op, metas};
    const auto memory = ops::result_memory(call, ops::infer(call));
    return memory.size() == 1 && !memory[0].placed;
  }

  // Whether the graph's result may be memory of the node's.
  static bool is_returned(const fx::Node& node) {
    std::vector<const fx::Node*> open{&node};
    std::unordered_set<const fx::Node*> seen{&node};
    while (!open.empty()) {
      const fx::Node* const at = open.back();
      open.pop_back();
      for (const fx::Node* user : at->users()) {
        if (user->is(fx::Opcode::output)) return true;
        if (fx::may_alias(*user) && seen.insert(user).second)
          open.push_back(user);
      }
    }
    return false;
  }

  Value input(const fx::Node& node, const Value& known) {
    if (request_.fixed && known.is_tensor() && !known.as_tensor().is_meta())
      return builder_.constant(known.as_tensor());
    part_.inputs.push_back(&node);
    int count = 0;
    return map_leaves(known, [&](const Value& leaf) -> Value {
      if (!leaf.is_tensor()) return leaf;
      const Tensor& t = leaf.as_tensor();
      std::string name(node.name());
      if (count++) name += "_" + std::to_string(count);
      // The call passes the first element, wherever it lies in its storage.
      const Value made = builder_.placeholder(
          name, Tensor::meta(t.sizes(), t.dtype(), t.strides(), 0));
      writes_.add_input(made);
      return made;
    });
  }

  Value attribute(const fx::Node& node) {
    const nn::Member member = module_.find_member(node.target_name());
    if (const auto* const module = std::get_if<nn::ModuleRef>(&member))
      return fx::module_value(*module);
    const auto value = nn::member_value(member);
    if (!value) refuse(node, "names no parameter, buffer or attribute");
    if (!value->is_tensor()) return *value;
    const Tensor& tensor = value->as_tensor();
    builder_.hold_outside(tensor);
    if (!request_.changing.contains(tensor.storage().get()))
      return builder_.constant(tensor);
    // The same tensor is one input, under whatever names it is read.
    const auto [known, added] = attributes_.emplace(tensor.id(), &node);
    return added ? input(node, *value) : values_[known->second->id()];
  }

  const PartRequest& request_;
  const fx::GraphModule& module_;
  Part part_;
  GraphBuilder builder_;
  std::vector<Value> values_;  // By node id; of those outside once read.
  std::vector<bool> have_;
  MemoryClasses memory_;
  FollowedWrites writes_;
  std::unordered_map<const void*, const fx::Node*> attributes_;  // Read ones.
};

}  // namespace

Part normalize_part(const PartRequest& request) {
  return Normalizer(request).run();
}

ModelGraph normalize(const fx::GraphModule& module,
                     std::span<const Value> inputs) {
  const std::vector<int32_t> order = node_order(module.graph());
  const std::vector<fx::NodePtr> placeholders = module.graph().placeholders();
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
