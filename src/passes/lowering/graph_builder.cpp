#include "src/passes/lowering/graph_builder.h"

#include "src/ops/eager/complex_calls.h"
#include "src/ops/table/layouts.h"
#include "src/ops/table/randomness.h"
#include "src/passes/call_key.h"
#include "src/passes/lowering/builder_proxy.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/origins.h"
#include "src/tensor/sizes/named.h"

namespace fxjit::passes {
namespace {

bool holds(const Value& value, bool (Value::*is)() const) {
  bool found = false;
  visit_leaves(value, [&](const Value& leaf) { found |= (leaf.*is)(); });
  return found;
}

// How deep calls may be made of calls. Rows of the table need a tenth of it: a
// lowering that comes back to its own call is refused instead of running out of
// stack.
constexpr int kMostCallsInCalls = 200;

// Of the calls that a thread makes in one another.
class CallDepth {
 public:
  CallDepth() { ++depth_; }
  ~CallDepth() { --depth_; }
  CallDepth(const CallDepth&) = delete;
  CallDepth& operator=(const CallDepth&) = delete;
  bool too_deep() const { return depth_ > kMostCallsInCalls; }

 private:
  static thread_local int depth_;
};

thread_local int CallDepth::depth_ = 0;

// Whether one call does for two that are alike.
bool merges(const ops::Op& op, const ValueList& args) {
  return op.row.purity == ops::Purity::pure ||
         (op.row.purity == ops::Purity::random &&
          !ops::draws_numbers({op, args}));
}

}  // namespace

Value meta_of(const Value& value) {
  return map_leaves(value, [](const Value& leaf) -> Value {
    if (leaf.is_proxy()) return leaf.as_proxy()->val();
    if (!leaf.is_tensor()) return leaf;
    const Tensor& t = leaf.as_tensor();
    return Tensor::meta(t.sizes(), t.dtype(), t.strides(), t.offset());
  });
}

ValueList meta_of(const ValueList& values) {
  ValueList metas;
  metas.reserve(values.size());
  for (const Value& value : values) metas.push_back(meta_of(value));
  return metas;
}

GraphBuilder::GraphBuilder(Options options)
    : options_(std::move(options)), graph_(std::make_unique<fx::Graph>()) {}

GraphBuilder::~GraphBuilder() = default;

fx::NodePtr GraphBuilder::node_of(const Value& proxy) {
  return static_cast<Proxy*>(proxy.as_proxy())->node();
}

const Tensor* GraphBuilder::constant_of(const Value& proxy) const {
  const Tensor* const held = held_by(proxy);
  return held && !held->is_meta() ? held : nullptr;
}

const Tensor* GraphBuilder::held_by(const Value& proxy) const {
  if (!proxy.is_proxy()) return nullptr;
  const fx::Node* node = node_of(proxy);
  if (!node->is(fx::Opcode::get_attr)) return nullptr;
  return &constants_[node->meta().at("constant").as_int()];
}

Value GraphBuilder::with_constants(const Value& value) const {
  return map_leaves(value, [&](const Value& leaf) -> Value {
    const Tensor* constant = constant_of(leaf);
    return constant ? Value(*constant) : leaf;
  });
}

Value GraphBuilder::proxy(fx::NodePtr node, ValueMemory memory) {
  return Value::proxy(new Proxy(this, node, memory));
}

Value GraphBuilder::placeholder(std::string_view name, const Value& val) {
  const auto point = last_input_ ? graph_->inserting_after(last_input_)
                                 : graph_->inserting_before();
  last_input_ = graph_->placeholder(name);
  last_input_->set_val(val);
  return proxy(last_input_, {new_memory(true), last_input_});
}

Value GraphBuilder::constant(const Tensor& tensor, bool computed) {
  auto& known = constant_nodes_[tensor.id()];
  if (!known) {
    const auto index = static_cast<int64_t>(constants_.size());
    constants_.push_back(tensor);
    known = graph_->get_attr("constant_" + std::to_string(index));
    known->meta().set("constant", index);
    if (computed) known->meta().set("computed", true);
    // Its memory starts with its first element, as that of inputs does.
    known->set_val(
        Tensor::meta(tensor.sizes(), tensor.dtype(), tensor.strides()));
    if (origin_) known->set_source(origin_->source());
  }
  // Whose memory a stand-in is, the call tells that makes it.
  if (tensor.is_meta()) return proxy(known);
  return proxy(known, {memory_of(tensor).id, known});
}

ValueList GraphBuilder::nodes_of(const ValueList& args) {
  ValueList nodes;
  nodes.reserve(args.size());
  for (const Value& arg : args)
    nodes.push_back(map_leaves(arg, [](const Value& leaf) {
      return leaf.is_proxy() ? Value(node_of(leaf)) : leaf;
    }));
  return nodes;
}

Value GraphBuilder::wrap_tensors(const Value& value) {
  return map_leaves(value, [&](const Value& leaf) {
    if (!leaf.is_tensor()) return leaf;
    const Tensor& tensor = leaf.as_tensor();
    if (options_.changing &&
        options_.changing->contains(tensor.storage().get()))
      refuse("it reads what another call changes in place");
    // Made by a call without inputs: the graph's own tensors are attributes.
    return constant(tensor, true);
  });
}

void GraphBuilder::refuse(const char* why) const {
  ErrorContext context;
  if (origin_) context = origin_->error_context();
  throw NotImplementedError(std::string("cannot be compiled: ") + why,
                            std::move(context));
}

// Draws are made one after the other. Those of a composed op are made when it
// is lowered.
Value GraphBuilder::call(const ops::Op& op, ValueList args) {
  if (!ops::draws_numbers({op, args}) || op.row.decompose)
    return call_in_order(op, std::move(args), false);
  ValueList parts = std::move(args);
  if (&op != &draw_op())
    parts = {None, op.name(), Value::tuple(std::move(parts))};
  parts[0] = last_draw_;
  const Value result = call_in_order(draw_op(), std::move(parts), false);
  visit_leaves(result, [&](const Value& leaf) {
    if (leaf.is_proxy()) last_draw_ = leaf;
  });
  return result;
}

Value GraphBuilder::call_in_memory_order(const ops::Op& op, ValueList args) {
  return call_in_order(op, std::move(args), true);
}

Value GraphBuilder::call_in_order(const ops::Op& op, ValueList args,
                                  bool in_memory_order) {
  const CallDepth depth;
  if (depth.too_deep()) refuse("it is made of calls without end");
  for (Value& arg : args) arg = wrap_tensors(arg);
  const int64_t calls = ++calls_;
  if (ops::writes_input({op, args})) {
    if (!on_write_) refuse("the call changes its argument in place");
    const Value result = on_write_(op, std::move(args));
    calls_ = calls;
    return result;
  }
  if (ops::writes_statistics({op, args}))
    refuse("the call updates running statistics");
  const ValueList metas = meta_of(args);
  Value val;
  ops::DecomposeFn form = nullptr;
  try {
    form = ops::complex_form({op, metas});
    // Lowered values lie as their shapes are read, until results are ordered.
    val = options_.lower ? ops::infer_plain({op, metas})
                         : ops::infer({op, metas});
  } catch (Error& error) {
    if (origin_) error.extend("", origin_->error_context());
    throw;
  }
  if (form) return in_parts(form({op, args}), val);
  if (!holds(val, &Value::is_tensor)) return val;
  return options_.lower ? make(op, args, val, in_memory_order)
                        : make_placed(op, args, metas, val);
}

// What a call with complex tensors is made of has the strides of the call where
// these count.
Value GraphBuilder::in_parts(const Value& made, const Value& val) {
  if (options_.lower || !made.is_proxy()) return made;
  const Dims& strides = val.as_tensor().strides();
  if (made.as_proxy()->val().as_tensor().strides() == strides) return made;
  return call(layout_op(), {made, strides});
}

Value GraphBuilder::make(const ops::Op& op, const ValueList& args,
                         const Value& val, bool in_memory_order) {
  if (Value simpler = simplify(op, args, val); !simpler.is_none())
    return simpler;
  if (options_.lower) {
    if (Value lowered = options_.lower(*this, op, args, in_memory_order);
        !lowered.is_none())
      return lowered;
  }
  return append(op, args, val);
}

// The result of a call that needs no node of its own, or none.
Value GraphBuilder::simplify(const ops::Op& op, const ValueList& args,
                             const Value& val) {
  using ops::Lowering;
  if (!merges(op, args)) return {};
  if (Value folded = fold(op, args, val); !folded.is_none()) return folded;
  const Lowering lowering = op.row.lowering;
  if (lowering == Lowering::view && val.is_sequence())
    return split_views(op, args, val);
  if (lowering != Lowering::view && lowering != Lowering::reshape) return {};
  if (args.empty() || !args[0].is_proxy() || !val.is_tensor()) return {};
  const Tensor& from = args[0].as_proxy()->val().as_tensor();
  Tensor to = val.as_tensor();
  // Captured strides decide what `view` accepts later; lowered ones are free.
  if (lowering == Lowering::reshape && options_.lower) {
    const auto strides = view_strides(from.sizes(), from.strides(), to.sizes());
    if (!strides) {
      const Value copy = call(materialize_op(), {args[0]});
      return flatten_view(copy, Tensor::meta(to.sizes(), to.dtype(),
                                             contiguous_strides(to.sizes())));
    }
    to = Tensor::meta(to.sizes(), to.dtype(), *strides, from.offset());
  }
  if (same_view(from, to)) return args[0];
  return options_.lower ? flatten_view(args[0], to) : Value();
}

Value GraphBuilder::flatten_view(const Value& base, const Tensor& val) {
  fx::NodePtr root = node_of(base);
  if (root->called_op() == &as_strided_op()) root = root->arg_node(0);
  if (same_view(root->val_tensor(), val)) return proxy(root);
  const DType from = root->val_tensor().dtype();
  return append(as_strided_op(),
                {proxy(root), val.sizes(), val.strides(), val.offset(),
                 val.dtype() == from ? Value() : Value(val.dtype())},
                val);
}

// split, chunk, unbind: one narrow or select per part, so that every view has
// one result.
Value GraphBuilder::split_views(const ops::Op& op, const ValueList& args,
                                const Value& val) {
  const Value& input = args[0];
  const Tensor from = input.as_proxy()->val().as_tensor();
  const int at = op.index_of("dim");
  const int64_t dim = at < 0 ? 0 : wrap_dim(args[at].as_int(), from.dim());
  ValueList parts;
  Size start = 0;
  for (const Value& part : val.as_sequence()) {
    const bool whole = part.as_tensor().dim() == from.dim();
    const Size length = whole ? part.as_tensor().size(dim) : Size(1);
    parts.push_back(
        whole ? call(ops::get_op("narrow"), {input, dim, start, length})
              : call(ops::get_op("select"), {input, dim, start}));
    start += length;
  }
  return Value::tuple(std::move(parts));
}

Value GraphBuilder::append(const ops::Op& op, const ValueList& args,
                           const Value& val) {
  ValueList node_args = nodes_of(args);
  const bool mergeable = merges(op, node_args);
  const size_t hash = mergeable ? call_hash(op, node_args) : 0;
  if (mergeable) {
    auto [first, last] = known_calls_.equal_range(hash);
    for (; first != last; ++first) {
      fx::NodePtr known = first->second;
      if (known->called_op() != &op) continue;
      if (identical(node_args, known->args())) return proxies_of(known);
    }
  }
  fx::NodePtr node = graph_->call_function(op.canonical, std::move(node_args));
  node->set_val(val);
  if (origin_) {
    node->set_source(origin_->source());
    node->set_module_stack(origin_->module_stack());
    copy_origins(*origin_, *node);
  }
  if (way_ != ImageWay::none && &op != &materialize_op()) set_way(*node, way_);
  if (mergeable) known_calls_.emplace(hash, node);
  return proxies_of(node);
}

Value GraphBuilder::proxies_of(fx::NodePtr node) {
  if (node->val().is_tensor()) return proxy(node);
  ValueList parts;
  const ValueList& vals = node->val().as_sequence();
  for (size_t i = 0; i < vals.size(); ++i)
    parts.push_back(vals[i].is_tensor()
                        ? append(item_op(), {proxy(node), i}, vals[i])
                        : vals[i]);
  return Value::tuple(std::move(parts));
}

ModelGraph GraphBuilder::finish(const Value& result) {
  graph_->output(nodes_of({wrap_tensors(result)})[0]);
  graph_->eliminate_dead_code();
  ModelGraph model;
  model.stage = options_.lower ? GraphStage::lowered : GraphStage::normalized;
  model.graph = std::move(graph_);
  model.constants = std::move(constants_);
  model.made = std::move(made_);
  return model;
}

}  // namespace fxjit::passes
