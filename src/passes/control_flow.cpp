#include "src/passes/control_flow.h"

#include <algorithm>

#include "fxjit/fx/pytree.h"
#include "src/fx/control_flow/run.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/normalize.h"
#include "src/tensor/memory_order.h"

namespace fxjit::passes {
namespace {

using fx::ControlCall;
using fx::ControlFlow;

Value meta_contiguous(const Tensor& like) {
  return Tensor::meta(like.sizes(), like.dtype());
}

// A slice along the first dim, where it lies.
Value slice_of(const Value& xs) {
  const Tensor& t = xs.as_tensor();
  Dims sizes = t.sizes(), strides = t.strides();
  sizes.erase(0);
  strides.erase(0);
  return Tensor::meta(sizes, t.dtype(), strides, 0);
}

Value stack_of(const Value& slice, Size count) {
  Dims sizes = slice.as_tensor().sizes();
  sizes.insert(0, count);
  return Tensor::meta(sizes, slice.as_tensor().dtype());
}

// What is carried lies in rows, whatever it was at first.
ValueList states(const ValueList& carried) {
  ValueList made;
  for (const Value& value : carried)
    made.push_back(meta_contiguous(value.as_tensor()));
  return made;
}

void append(ValueList& to, const ValueList& more) {
  to.insert(to.end(), more.begin(), more.end());
}

void require_tensors(const GraphBuilder& builder, const ValueList& values) {
  for (const Value& value : values)
    if (!value.is_tensor())
      builder.refuse("what a loop carries is not a tensor");
}

// Dense results keep their order of memory where both branches agree on it.
Value merged(const Tensor& a, const Tensor& b) {
  const bool keep = a.strides() == b.strides() && is_dense(a);
  return keep ? Tensor::meta(a.sizes(), a.dtype(), a.strides())
              : meta_contiguous(a);
}

class ControlBuilder {
 public:
  ControlBuilder(GraphBuilder& builder, const ControlCall& call)
      : builder_(builder), call_(call), spec_(new ControlSpec) {
    holder_ = Value::opaque(spec_);
    spec_->kind = call.kind;
    for (const nn::ModuleRef& body : call.bodies) {
      auto graph = std::dynamic_pointer_cast<fx::GraphModule>(body.ptr());
      if (!graph) builder.refuse("a branch or body is no graph module");
      spec_->bodies.push_back(std::move(graph));
    }
  }

  Value build() {
    refuse_complex();
    metas_ = {holder_, meta_of(call_.pred), meta_of(Value::list(call_.carried)),
              meta_of(Value::list(call_.xs)),
              meta_of(Value::list(call_.operands))};
    spec_->results = results();
    const Value made = builder_.call(
        control_op(), {holder_, call_.pred, Value::list(call_.carried),
                       Value::list(call_.xs), Value::list(call_.operands)});
    // As the functions give them: lists and tuples may be told apart.
    if (spec_->kind == ControlFlow::associative_scan)
      return Value::list(made.as_sequence());
    const bool shaped =
        spec_->kind == ControlFlow::cond || spec_->kind == ControlFlow::map;
    return shaped ? fx::tree_unflatten(made.as_sequence(), structure_) : made;
  }

 private:
  // Such tensors are handled as their parts.
  void refuse_complex() const {
    for (const ValueList* values : {&call_.carried, &call_.xs, &call_.operands})
      for (const Value& value : *values) {
        const Value meta = meta_of(value);
        if (meta.is_tensor() && is_complex(meta.as_tensor().dtype()))
          builder_.refuse("its branches and bodies get complex numbers");
      }
  }

  ValueList of_body(size_t which) {
    const ValueList args = body_args(*spec_, metas_);
    const ModelGraph body = normalize_body(
        {*spec_->bodies[which], args, {}, builder_.options().changing});
    structure_ = fx::TreeSpec(body.graph->output_node()->args()[0]);
    return results_of(body);
  }

  ValueList results() {
    switch (spec_->kind) {
      case ControlFlow::cond:
        return of_branches();
      case ControlFlow::while_loop:
        return of_while();
      case ControlFlow::scan:
        return of_scan();
      case ControlFlow::associative_scan:
        return of_pairs();
      case ControlFlow::map:
        return stacks(of_body(0));
    }
    return {};
  }

  // Nothing where the branch fails, as it will whenever it is taken. It may
  // hold for other sizes.
  std::optional<ValueList> of_branch(size_t which) {
    try {
      return of_body(which);
    } catch (const NotImplementedError&) {
      throw;
    } catch (const InternalError&) {
      throw;
    } catch (const Error&) {
      if (spec_->failing) throw;
      spec_->failing = which;
      return std::nullopt;
    }
  }

  ValueList of_branches() {
    const auto on_true = of_branch(0), on_false = of_branch(1);
    ValueList made;
    if (!on_true || !on_false) {
      const ValueList& left = on_true ? *on_true : *on_false;
      require_tensors(builder_, left);
      for (const Value& one : left)
        made.push_back(merged(one.as_tensor(), one.as_tensor()));
      return made;
    }
    const ValueList &a = *on_true, &b = *on_false;
    fx::check_branches(Value::tuple(a), Value::tuple(b));
    require_tensors(builder_, a);
    require_tensors(builder_, b);
    for (size_t i = 0; i < a.size(); ++i) {
      const Tensor &left = a[i].as_tensor(), &right = b[i].as_tensor();
      // Such results have sizes that only the call tells.
      if (left.sizes() != right.sizes())
        builder_.refuse("its branches give results of different sizes");
      made.push_back(merged(left, right));
    }
    return made;
  }

  ValueList of_while() {
    const ValueList carried = metas_[2].as_sequence();
    require_tensors(builder_, carried);
    const ValueList condition = of_body(0);
    fx::check_loop_condition(condition.at(0));
    const ValueList next = of_body(1);
    fx::check_same_metadata(next, carried, "body_fn_output", "carried_inputs");
    return states(carried);
  }

  ValueList of_scan() {
    const ValueList carried = metas_[2].as_sequence();
    require_tensors(builder_, carried);
    const ValueList made = of_body(0);
    const auto split = made.begin() + static_cast<std::ptrdiff_t>(std::min(
                                          made.size(), carried.size()));
    fx::check_same_metadata(carried, ValueList(made.begin(), split), "init",
                            "carry");
    ValueList all = states(carried);
    append(all, stacks(ValueList(split, made.end())));
    return all;
  }

  ValueList of_pairs() {
    const ValueList made = of_body(0);
    ValueList slices;
    for (const Value& x : metas_[3].as_sequence())
      slices.push_back(slice_of(x));
    fx::check_same_metadata(made, slices, "combine_fn_output", "xs");
    return stacks(made);
  }

  ValueList stacks(const ValueList& slices) const {
    ControlCall shapes;
    shapes.kind = spec_->kind;
    shapes.xs = metas_[3].as_sequence();
    const Size count = fx::slice_count(shapes);
    require_tensors(builder_, slices);
    ValueList made;
    for (const Value& slice : slices) made.push_back(stack_of(slice, count));
    return made;
  }

  GraphBuilder& builder_;
  const ControlCall& call_;
  ControlSpec* spec_;
  Value holder_;
  ValueList metas_;
  fx::TreeSpec structure_;  // Of the results of the last body.
};

}  // namespace

const ControlSpec& control_spec(const Value& spec) {
  return dynamic_cast<const ControlSpec&>(*spec.as_opaque());
}

ValueList results_of(const ModelGraph& body) {
  ValueList results;
  for (const Value& leaf :
       fx::tree_leaves(body.graph->output_node()->args()[0]))
    results.push_back(leaf.is_node() ? leaf.as_node()->val() : leaf);
  return results;
}

ValueList body_args(const ControlSpec& spec, const ValueList& call) {
  ValueList args;
  if (spec.kind == ControlFlow::while_loop || spec.kind == ControlFlow::scan)
    args = states(call[2].as_sequence());
  if (spec.kind == ControlFlow::associative_scan)
    for (const Value& x : call[3].as_sequence())
      args.push_back(meta_contiguous(slice_of(x).as_tensor()));
  for (const Value& x : call[3].as_sequence()) args.push_back(slice_of(x));
  append(args, call[4].as_sequence());
  return args;
}

Value call_control(GraphBuilder& builder, const ControlCall& call) {
  try {
    return ControlBuilder(builder, call).build();
  } catch (Error& error) {
    if (builder.origin()) error.extend("", builder.origin()->error_context());
    throw;
  }
}

ModelGraph normalize_body(const BodyRequest& request) {
  const fx::Graph& graph = request.body.graph();
  const std::vector<fx::NodePtr> placeholders = graph.placeholders();
  if (placeholders.size() != request.args.size())
    throw RuntimeError("forward() takes " +
                       std::to_string(placeholders.size()) +
                       " positional arguments but " +
                       std::to_string(request.args.size()) + " were given");
  const std::vector<int32_t> order = node_order(graph);
  std::vector<const Value*> known(graph.id_bound());
  for (size_t i = 0; i < placeholders.size(); ++i)
    known[placeholders[i]->id()] = &request.args[i];
  const auto value_of = [&](const fx::Node& node) -> const Value& {
    return *known[node.id()];
  };
  static const std::unordered_set<const Storage*> none;
  PartRequest part{request.body, order,
                   nullptr,      nullptr,
                   value_of,     request.changing ? *request.changing : none};
  part.fixed = true;
  part.layouts = request.layouts;
  Part made = normalize_part(part);
  if (made.why) std::rethrow_exception(made.why);
  if (!made.model.written.empty())
    throw NotImplementedError(
        "cannot be compiled: a branch or body writes what it is given");
  for (const fx::Node* node : made.inputs)
    if (node->is(fx::Opcode::get_attr))
      throw NotImplementedError(
          "cannot be compiled: a branch or body reads what another call "
          "changes in place");
  for (const fx::Node* node : made.model.graph->nodes())
    if (is_draw(*node))
      throw NotImplementedError(
          "cannot be compiled: a branch or body draws random numbers");
  return std::move(made.model);
}

}  // namespace fxjit::passes
