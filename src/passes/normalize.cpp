#include "src/passes/normalize.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "fxjit/fx/wrap.h"
#include "fxjit/nn/module_types.h"
#include "src/fx/node_aliasing.h"
#include "src/fx/passes/written_values.h"
#include "src/nn/member_value.h"
#include "src/ops/aliasing.h"
#include "src/ops/randomness.h"
#include "src/passes/graph_builder.h"
#include "src/passes/internal_ops.h"
#include "src/passes/memory_classes.h"
#include "src/passes/result_memory.h"
#include "src/passes/set_items.h"
#include "src/tensor/memory_order.h"

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
        builder_({.changing = &request.changing,
                  .is_written = [this] { return is_written(); }}),
        values_(request.order.size()),
        have_(request.order.size()),
        memory_(request.order, values_, builder_) {
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
    write_.reset();
    Value& value = values_[node.id()];
    try {
      value = run_node(node);
    } catch (const Error& error) {
      if (!ends_part(node, error)) throw;
      part_.why = std::current_exception();
      return false;
    }
    have_[node.id()] = true;
    if (write_) {
      apply_write(node, value);
    }
    memory_.add(node);
    return true;
  }

  void apply_write(const fx::Node& node, Value& value) {
    const auto& [written, after, base] = *write_;
    if (base.is_none()) {
      memory_.replace(written, after);
      value = memory_.replaced(value, written, after);
      return;
    }
    memory_.rebase(node, base);
    value = memory_.rebased(value, base);
    const auto input = inputs_.find(builder_.memory_of(base).id);
    if (input != inputs_.end()) written_[input->second] = base;
  }

  bool is_written() const {
    const std::vector<bool> written = fx::passes::written_values(module_);
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
    const Value result = map(captured);
    PlacedResult placed = place_result(builder_, result);
    if (!written_.empty()) add_written(result, placed);
    part_.model = builder_.finish(placed.value);
    part_.model.results = std::move(placed.memory);
    for (const auto& [input, after] : written_)
      part_.model.written.push_back(input);
    return std::move(part_);
  }

  // Results that are memory of written inputs say of which; the new values of
  // these become results, too.
  void add_written(const Value& result, PlacedResult& placed) {
    std::map<int32_t, int32_t> numbers;  // By memory.
    ValueList values;
    for (const auto& [input, after] : written_) {
      numbers[builder_.memory_of(after).id] =
          static_cast<int32_t>(values.size());
      values.push_back(after);
    }
    ValueList given;
    visit_leaves(result, [&](const Value& leaf) {
      if (leaf.is_proxy() || leaf.is_tensor()) given.push_back(leaf);
    });
    size_t next = 0;
    placed.value = map_leaves(placed.value, [&](const Value& leaf) -> Value {
      if (!leaf.is_proxy() && !leaf.is_tensor()) return leaf;
      const Value& shown = given[next];
      ModelGraph::Result& known = placed.memory[next++];
      const auto found = numbers.find(builder_.memory_of(shown).id);
      if (found == numbers.end()) return leaf;
      known.written = found->second;
      known.view = meta_of(shown).as_tensor();
      return values[static_cast<size_t>(known.written)];
    });
    placed.memory.resize(placed.memory.size() + values.size());
    placed.value = Value::tuple({placed.value, Value::tuple(std::move(values))});
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
    return call_op(node, *spelling, std::move(args), std::move(kwargs));
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
    if (write_ && builder_.calls() != before + 1) refuse_write(node);
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
    if (!may_write(node, args[0])) refuse_write(node);
    const Value written = args[0];
    const DType dtype = meta_of(written).as_tensor().dtype();
    ValueList metas;
    for (const Value& arg : args) metas.push_back(meta_of(arg));
    ops::infer({op, metas});  // Whether the result fits its place.
    Value result = new_value(node, op, args);
    if (meta_of(result).as_tensor().dtype() != dtype)
      result = builder_.call(
          ops::get_op("to"),
          ops::bind(ops::get_op("to"), ValueList{result, dtype}, {}));
    return note_write(node, written, result);
  }

  // Whether what a write changes can be followed to all who see it.
  bool may_write(const fx::Node& node, const Value& written) {
    if (memory_.may_replace(node, written)) return true;
    const ValueMemory memory = builder_.memory_of(written);
    if (builder_.is_outside(memory.id)) {
      const auto input = inputs_.find(memory.id);
      if (input == inputs_.end()) return false;
      // Not so for views of an input that was filled with constants.
      const auto after = written_.find(input->second);
      const bool of_whole =
          after == written_.end()
              ? memory.base->is(fx::Opcode::placeholder)
              : memory.base == GraphBuilder::node_of(after->second);
      if (!of_whole) return false;
    }
    return memory_.may_rebase(node, written);
  }

  Value set_item(const fx::Node& node, const ValueList& args) {
    if (args.size() != 3 || !args[0].is_proxy() || !may_write(node, args[0]))
      refuse_write(node);
    const bool alone = memory_.may_replace(node, args[0]);
    if (!alone && is_view_index(args[1])) {
      const ops::Op& pick = ops::get_op("getitem");
      const Value view =
          builder_.call(pick, ops::bind(pick, ValueList{args[0], args[1]}, {}));
      if (!may_write(node, view)) refuse_write(node);
      note_write(node, view, spread_to(view, args[2]));
    } else {
      note_write(node, args[0], with_items(args[0], args[1], args[2]));
    }
    return None;
  }

  // The value of `written` behind the write. Views of it count on its strides.
  Value note_write(const fx::Node& node, const Value& written,
                   const Value& result) {
    if (MemoryClasses::is_same(builder_, written, result)) return result;
    const Tensor before = meta_of(written).as_tensor();
    const Tensor after = meta_of(result).as_tensor();
    if (after.sizes() != before.sizes()) refuse_write(node);
    if (!memory_.may_replace(node, written))
      return note_write_through(written, result);
    if (after.strides() != before.strides() && !is_dense(before))
      refuse_write(node);
    const Value laid_out =
        after.strides() == before.strides()
            ? result
            : builder_.call(layout_op(), {result, before.strides()});
    write_ = {written, builder_.as_written(laid_out, written), {}};
    return write_->after;
  }

  // Others read that memory, or parts of it: all of it gets a new value, which
  // they become views of.
  Value note_write_through(const Value& written, const Value& result) {
    const Value base = builder_.base_of(written);
    const Tensor whole = meta_of(base).as_tensor();
    const Tensor part = meta_of(written).as_tensor();
    Value after = result;
    if (!MemoryClasses::is_same(builder_, base, written))
      after = builder_.call(put_view_op(),
                            {base, result, part.strides(), part.offset()});
    else if (meta_of(result).as_tensor().strides() != whole.strides())
      after = builder_.call(layout_op(), {result, whole.strides()});
    if (!is_own(after)) after = builder_.call(materialize_op(), {after});
    after = builder_.as_written(after, written);
    const Value seen = memory_.rebased(written, after);
    write_ = {written, seen, after};
    return seen;
  }

  // Whether a call made the value in memory of its own.
  static bool is_own(const Value& value) {
    const ops::Op* const op = GraphBuilder::node_of(value)->called_op();
    return op && !ops::may_alias(*op);
  }

  // Whether it is laid out as `place`, too: no copy of it is needed to become
  // the value of that place.
  static bool is_made_so(const Value& value, const Value& place) {
    if (!value.is_proxy() || !is_own(value)) return false;
    const Tensor made = meta_of(value).as_tensor();
    const Tensor wanted = meta_of(place).as_tensor();
    return made.dtype() == wanted.dtype() && made.sizes() == wanted.sizes() &&
           made.strides() == wanted.strides() && made.is_contiguous();
  }

  Value new_value(const fx::Node& node, const ops::Op& op, ValueList args) {
    const auto call = [&](const char* name, const ValueList& given) {
      const ops::Op& pure = ops::get_op(name);
      return builder_.call(pure, ops::bind(pure, given, {}));
    };
    if (op.name() == "copy_" && is_made_so(args[1], args[0])) return args[1];
    if (op.name() == "copy_") return call("copy", {args[0], args[1]});
    if (op.name() == "fill_") return call("full_like", {args[0], args[1]});
    if (op.name() == "zero_") return call("zeros_like", {args[0]});
    const ops::Op& pure = without_write(node, op, args);
    return builder_.call(pure, std::move(args));
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

  Value call_op(const fx::Node& node, const ops::Spelling& spelling,
                const ValueList& args, const Kwargs& kwargs) {
    const ops::Op& op = *spelling.op;
    ValueList bound = ops::bind(spelling, args, kwargs);
    // Picking from a tuple of results is no work.
    if (op.name() == "getitem" && bound[0].is_sequence() &&
        !has_tensor({bound[1]}))
      return op.row.decompose({op, bound});
    if (op.name() == "getitem" && is_view_of_unknown_place(op, bound) &&
        is_returned(node))
      refuse(node, "views a place that only its numbers tell");
    if (ops::writes_input({op, bound}) && has_tensor({bound[0]}))
      return write(node, op, std::move(bound));
    if (!has_proxy(bound) && !ops::draws_numbers({op, bound}))
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
    for (const fx::Node* user : node.users())
      if (user->is(fx::Opcode::output) ||
          (fx::may_alias(*user) && is_returned(*user)))
        return true;
    return false;
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
      const Value made = builder_.placeholder(
          name, Tensor::meta(t.sizes(), t.dtype(), t.strides(), 0));
      const auto number = static_cast<int32_t>(inputs_.size());
      inputs_.emplace(builder_.memory_of(made).id, number);
      return made;
    });
  }

  Value attribute(const fx::Node& node) {
    const auto value =
        nn::member_value(module_.find_member(node.target_name()));
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
  std::unordered_map<const void*, const fx::Node*> attributes_;  // Read ones.
  std::map<int32_t, int32_t> inputs_;  // Placeholders by memory.
  std::map<int32_t, Value> written_;   // New values of placeholders' memory.
  struct Write {
    Value written, after;
    Value base;  // All of the memory after the write; none: `after` is.
  };
  std::optional<Write> write_;  // Of the node at hand.
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
