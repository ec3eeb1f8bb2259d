// cond, while_loop, scan, associative_scan and map: run on values, recorded
// with proxies.
#include "fxjit/fx/control_flow.h"

#include <algorithm>

#include "fxjit/functions.h"
#include "fxjit/functions_structured.h"
#include "fxjit/fx/tracer.h"
#include "src/fx/control_flow/run.h"
#include "src/fx/control_flow/trace_body.h"

namespace fxjit {
namespace {

using fx::Body;
using fx::ControlCall;
using fx::ControlFlow;
using fx::is_data;
using fx::joined;
using fx::TracedBody;
using fx::TracerBase;
using fx::TreeSpec;

ValueList nodes_of(TracerBase& tracer, ValueList values) {
  for (Value& value : values) value = tracer.create_arg(value);
  return values;
}

Value tuple_of(ValueList leaves) { return Value::tuple(std::move(leaves)); }
Value list_of(ValueList leaves) { return Value::list(std::move(leaves)); }

ValueList values_of(const std::vector<fx::NodePtr>& nodes) {
  return ValueList(nodes.begin(), nodes.end());
}

// The body on the leaves of its arguments.
std::function<Value(ValueList)> on_leaves(const Body& body, TreeSpec spec) {
  return [&body, spec = std::move(spec)](ValueList leaves) {
    return body(fx::tree_unflatten(leaves, spec).as_sequence());
  };
}

void check_structures(const TracedBody& on_true, const TracedBody& on_false) {
  const auto leaves = [](const TracedBody& body) {
    return Value::tuple(ValueList(body.result.num_leaves()));
  };
  fx::check_branches(leaves(on_true), leaves(on_false));
  if (on_true.result != on_false.result)
    throw RuntimeError(
        "torch.cond: differing branch outputs: expected branches to return the "
        "same pytree structure, got " +
        on_true.result.str() + " and " + on_false.result.str());
}

// What `record` gives; its errors name the line of the call, where they name
// none inside of a body.
template <typename Record>
Value record_at(TracerBase& tracer, const SourceLocation& at,
                const Record& record) {
  const fx::SourceScope line(tracer, at);
  try {
    return record();
  } catch (Error& error) {
    error.extend("", {"", "", "", at});
    throw;
  }
}

Value record_cond(TracerBase& tracer, const Value& pred, const Body& true_fn,
                  const Body& false_fn, const ValueList& operands) {
  auto [leaves, spec] = fx::tree_flatten(tuple_of(operands));
  const Value pred_node = tracer.create_arg(pred);
  const ValueList nodes = nodes_of(tracer, leaves);
  TracedBody on_true =
      trace_body(tracer, nodes, on_leaves(true_fn, spec), tuple_of);
  TracedBody on_false =
      trace_body(tracer, nodes, on_leaves(false_fn, spec), tuple_of);
  check_structures(on_true, on_false);
  const std::vector<TracedBody*> bodies{&on_true, &on_false};
  const std::vector<fx::NodePtr> lifted = merge_lifted(bodies);
  const ValueList graphs =
      add_bodies(tracer, bodies, lifted, {"true_graph", "false_graph"});
  return record_call(tracer, ControlFlow::cond,
                     {pred_node, graphs[0], graphs[1],
                      tuple_of(joined(nodes, values_of(lifted)))},
                     on_true.result);
}

Value record_while(TracerBase& tracer, const Body& cond_fn, const Body& body_fn,
                   const ValueList& carried) {
  auto [leaves, spec] = fx::tree_flatten(tuple_of(carried));
  const ValueList nodes = nodes_of(tracer, leaves);
  // Placeholders stand for other values in each call of a body.
  const ValueList inputs(nodes.size());
  TracedBody condition =
      trace_body(tracer, inputs, on_leaves(cond_fn, spec), [](ValueList made) {
        if (made.size() != 1) fx::check_loop_condition(tuple_of(made));
        return made[0];
      });
  TracedBody body =
      trace_body(tracer, inputs, on_leaves(body_fn, spec), tuple_of);
  fx::check_carried_count(body.result.num_leaves(), nodes.size());
  const std::vector<TracedBody*> bodies{&condition, &body};
  const std::vector<fx::NodePtr> lifted = merge_lifted(bodies);
  const ValueList graphs =
      add_bodies(tracer, bodies, lifted,
                 {"while_loop_cond_graph", "while_loop_body_graph"});
  return record_call(tracer, ControlFlow::while_loop,
                     {graphs[0], graphs[1], tuple_of(nodes),
                      tuple_of(values_of(lifted))},
                     spec);
}

// In which order of memory loops go over slices.
struct Order {
  int64_t dim = 0;
  bool reverse = false;
};

// The dim as torch's, from the front.
Order order_of(std::string_view what, const ValueList& xs, int64_t dim,
               bool reverse) {
  if (xs.empty()) throw RuntimeError("Expected at least 1 xs leaf");
  if (dim < 0 && xs[0].is_tensor()) dim = wrap_dim(dim, xs[0].as_tensor().dim());
  if (dim < 0)
    throw ValueError("[" + std::string(what) +
                     "] dim: expected one counted from the front while "
                     "tracing, got " +
                     std::to_string(dim));
  for (const Value& x : xs)
    if (x.is_tensor() && (x.as_tensor().dim() <= dim ||
                          x.as_tensor().size(dim) == 0))
      throw RuntimeError(
          "All xs leaves must at least have 'dim' number of dimensions and scan "
          "dimension > 0");
  return {dim, reverse};
}

// The slices that are taken are those along the first dim, from the first on.
ValueList in_order(ValueList xs, const Order& order) {
  for (Value& x : xs) {
    if (order.dim != 0) x = movedim(x, order.dim, 0);
    if (order.reverse) x = flip(x, Value::list({0}));
  }
  return xs;
}

Value back_in_place(const Value& tree, const Order& order) {
  return fx::tree_map(tree, [&](const Value& leaf) {
    Value y = order.reverse ? flip(leaf, Value::list({0})) : leaf;
    if (order.dim == 0) return y;
    const bool lacks = y.is_tensor() && y.as_tensor().dim() <= order.dim;
    return lacks ? y : movedim(y, 0, order.dim);
  });
}

// A loop over slices, the same for values and for graphs: leaves in, leaves
// out.
struct Slices {
  ControlFlow kind;
  ValueList carried;
  ValueList xs;
  ValueList args;  // The same in each iteration.
  std::function<Value(ValueList)> body;
  TreeSpec result;  // Known behind the call.
};

// The calls of bodies are those of functions, so they run without modules.
class BodyModule final : public nn::Module {
 public:
  explicit BodyModule(std::function<Value(ValueList)> run)
      : Module("Body"), run_(std::move(run)) {}
  Value invoke(const ValueList& args, const Kwargs&) override {
    return run_(args);
  }

 private:
  std::function<Value(ValueList)> run_;
};

nn::ModuleRef module_of(std::function<Value(ValueList)> run) {
  return nn::ModuleRef(std::make_shared<BodyModule>(std::move(run)));
}

// Gives the results as leaves, carried ones first.
ValueList run_slices(Slices& loop) {
  ControlCall call;
  call.kind = loop.kind;
  call.carried = loop.carried;
  call.xs = loop.xs;
  call.operands = loop.args;
  call.bodies = {module_of([&loop](ValueList leaves) {
    auto [made, spec] = fx::tree_flatten(loop.body(std::move(leaves)));
    loop.result = std::move(spec);
    return Value::list(std::move(made));
  })};
  return run_control(call).as_sequence();
}

Value record_slices(TracerBase& tracer, Slices& loop) {
  const bool maps = loop.kind == ControlFlow::map;
  const bool pairs = loop.kind == ControlFlow::associative_scan;
  const char* const prefix = maps    ? "body_graph"
                             : pairs ? "associative_scan_combine_graph"
                                     : "scan_combine_graph";
  const ValueList carried = nodes_of(tracer, loop.carried);
  const ValueList xs = nodes_of(tracer, loop.xs);
  const ValueList args = nodes_of(tracer, loop.args);
  const ValueList inputs =
      joined(ValueList(carried.size() + xs.size() * (pairs ? 2 : 1)), args);
  TracedBody body =
      trace_body(tracer, inputs, loop.body, maps ? tuple_of : list_of);
  loop.result = body.result;
  const std::vector<TracedBody*> bodies{&body};
  const std::vector<fx::NodePtr> lifted = merge_lifted(bodies);
  ValueList call = add_bodies(tracer, bodies, lifted, {prefix});
  if (loop.kind == ControlFlow::scan) call.push_back(list_of(carried));
  call.push_back(list_of(xs));
  const ValueList more = joined(args, values_of(lifted));
  call.push_back(maps ? list_of(more) : tuple_of(more));
  return record_call(tracer, loop.kind, std::move(call), loop.result);
}

// The results in the structure that the body gives.
Value call_slices(Slices& loop, SourceLocation at) {
  TracerBase* const tracer =
      fx::recorder_of(joined(joined(loop.carried, loop.xs), loop.args));
  if (!tracer) {
    const ValueList made = run_slices(loop);
    return fx::tree_unflatten(made, loop.result);
  }
  return record_at(*tracer, at, [&] { return record_slices(*tracer, loop); });
}

ValueList part(const ValueList& values, size_t begin, size_t count) {
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
  return ValueList(first, first + static_cast<std::ptrdiff_t>(count));
}

void check_scanned(const Value& made, const TreeSpec& init) {
  if (!made.is_sequence() || made.size() != 2)
    throw RuntimeError(
        "scan: combine_fn gives a pair of the next carry and an output, got " +
        repr(made));
  const TreeSpec carry = TreeSpec(made.at(0));
  if (carry != init)
    throw RuntimeError(
        "scan: expected carry and init to have the same structure, got " +
        carry.str() + " and " + init.str());
}

}  // namespace

Value cond(const Value& pred, const Body& true_fn, const Body& false_fn,
           const ValueList& operands, std::source_location at) {
  if (pred.is_number())
    return static_cast<bool>(pred) ? true_fn(operands) : false_fn(operands);
  fx::check_pred(pred);
  fx::check_operands(Value::tuple(operands));
  if (TracerBase* const tracer = fx::recorder_of(joined({pred}, operands)))
    return record_at(*tracer, at, [&] {
      return record_cond(*tracer, pred, true_fn, false_fn, operands);
    });
  return static_cast<bool>(pred) ? true_fn(operands) : false_fn(operands);
}

Value while_loop(const Body& cond_fn, const Body& body_fn,
                 const ValueList& carried, std::source_location at) {
  fx::check_carried(Value::tuple(carried));
  if (TracerBase* const tracer = fx::recorder_of(carried))
    return record_at(*tracer, at, [&] {
      return record_while(*tracer, cond_fn, body_fn, carried);
    });
  const auto [leaves, spec] = fx::tree_flatten(Value::tuple(carried));
  ControlCall call;
  call.kind = ControlFlow::while_loop;
  call.carried = leaves;
  const auto body = [&, run = on_leaves(body_fn, spec)](ValueList values) {
    return tuple_of(fx::tree_leaves(run(std::move(values))));
  };
  call.bodies = {module_of(on_leaves(cond_fn, spec)), module_of(body)};
  return fx::tree_unflatten(run_control(call).as_sequence(), spec);
}

Value scan(const Body& combine_fn, const Value& init, const Value& xs,
           const ScanOptions& options, std::source_location at) {
  const auto [carried, init_spec] = fx::tree_flatten(init);
  const auto [slices, xs_spec] = fx::tree_flatten(xs);
  if (slices.empty()) return Value::tuple({init, Value::list({})});
  if (carried.empty())
    throw RuntimeError("scan() operator requires init leaves.");
  for (const Value& leaf : carried)
    if (!is_data(leaf))
      throw RuntimeError("All init leaves must be a Tensor but got " +
                         repr(leaf));
  for (const Value& leaf : slices)
    if (!is_data(leaf))
      throw RuntimeError("All xs leaves must be a Tensor but got " +
                         repr(leaf));
  const Order order =
      order_of("scan", slices, options.dim, options.reverse);
  Slices loop{ControlFlow::scan, carried, in_order(slices, order), {}, {}, {}};
  loop.body = [&](ValueList leaves) {
    const size_t count = init_spec.num_leaves();
    Value made = combine_fn(
        {fx::tree_unflatten(part(leaves, 0, count), init_spec),
         fx::tree_unflatten(part(leaves, count, xs_spec.num_leaves()),
                            xs_spec)});
    check_scanned(made, init_spec);
    return made;
  };
  const Value made = call_slices(loop, at);
  return Value::tuple({made.at(0), back_in_place(made.at(1), order)});
}

Value associative_scan(const Body& combine_fn, const Value& xs, int64_t dim,
                       bool reverse, std::source_location at) {
  const auto [slices, spec] = fx::tree_flatten(xs);
  for (const Value& leaf : slices)
    if (!is_data(leaf)) throw ValueError("xs leaves must be a Tensor");
  const Order order = order_of("associative_scan", slices, dim, reverse);
  Slices loop{ControlFlow::associative_scan, {}, in_order(slices, order), {}, {},
              {}};
  loop.body = [&](ValueList leaves) {
    const size_t count = spec.num_leaves();
    Value made =
        combine_fn({fx::tree_unflatten(part(leaves, 0, count), spec),
                    fx::tree_unflatten(part(leaves, count, count), spec)});
    if (TreeSpec(made) != spec)
      throw RuntimeError(
          "associative_scan: expected combine_fn to give the structure of xs, "
          "got " +
          TreeSpec(made).str() + " and " + spec.str());
    return made;
  };
  // One slice needs no combining, so the structure is that of xs.
  loop.result = spec;
  return back_in_place(call_slices(loop, at), order);
}

Value map(const Body& f, const Value& xs, const ValueList& args,
          std::source_location at) {
  const auto [slices, xs_spec] = fx::tree_flatten(xs);
  const auto [leaves, args_spec] = fx::tree_flatten(Value::tuple(args));
  for (const Value& leaf : slices)
    if (!is_data(leaf))
      throw RuntimeError("Mapped xs can only consist of tensors. Got xs " +
                         repr(Value::list(slices)) + ".");
  Slices loop{ControlFlow::map, {}, slices, leaves, {}, {}};
  loop.body = [&](ValueList values) {
    const size_t count = xs_spec.num_leaves();
    const ValueList rest = part(values, count, values.size() - count);
    return f(joined({fx::tree_unflatten(part(values, 0, count), xs_spec)},
                    fx::tree_unflatten(rest, args_spec).as_sequence()));
  };
  return call_slices(loop, at);
}

}  // namespace fxjit
