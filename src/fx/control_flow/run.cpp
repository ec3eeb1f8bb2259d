#include "src/fx/control_flow/run.h"

#include <algorithm>

#include "fxjit/functions.h"
#include "fxjit/functions_structured.h"
#include "fxjit/fx/pytree.h"
#include "fxjit/fx/tracer.h"
#include "src/fx/control_flow/other_branch.h"

namespace fxjit::fx {
namespace {

bool is_meta(const Value& value) {
  return value.is_tensor() && value.as_tensor().is_meta();
}

bool any_meta(const ControlCall& call) {
  const auto any = [](const ValueList& values) {
    return std::any_of(values.begin(), values.end(), is_meta);
  };
  return is_meta(call.pred) || any(call.carried) || any(call.xs) ||
         any(call.operands);
}

// Results do not share memory with what a call is given.
class Owned {
 public:
  explicit Owned(const ControlCall& call) {
    for (const ValueList* values : {&call.carried, &call.xs, &call.operands})
      for (const Value& value : *values)
        if (value.is_tensor())
          given_.push_back(value.as_tensor().storage().get());
  }
  Value operator()(const Value& result) const {
    return map_leaves(result, [this](const Value& leaf) -> Value {
      if (!leaf.is_tensor() || leaf.as_tensor().is_meta()) return leaf;
      const Storage* const memory = leaf.as_tensor().storage().get();
      const bool given =
          std::find(given_.begin(), given_.end(), memory) != given_.end();
      return given ? Value(leaf.as_tensor().clone()) : leaf;
    });
  }

 private:
  std::vector<const Storage*> given_;
};

class Run {
 public:
  explicit Run(const ControlCall& call) : call_(call), own_(call) {}

  Value operator()() const {
    switch (call_.kind) {
      case ControlFlow::cond:
        return cond();
      case ControlFlow::while_loop:
        return while_loop();
      case ControlFlow::scan:
        return scan();
      case ControlFlow::associative_scan:
        return associative_scan();
      case ControlFlow::map:
        return map();
    }
    return None;
  }

 private:
  Value body(size_t which, ValueList args) const {
    return call_.bodies[which]->forward(joined(std::move(args), call_.operands));
  }

  Value cond() const {
    for (const Value& operand : call_.operands)
      if (!operand.is_tensor() && !operand.is_number())
        throw AssertionError(
            "Dense implementation operands must be a list of tensors and ints " +
            repr(Value::tuple(call_.operands)));
    if (!is_meta(call_.pred)) {
      const size_t taken = static_cast<bool>(call_.pred) ? 0 : 1;
      const Value made = body(taken, {});
      if (call_.pred.is_tensor()) check_other_branch(call_, taken, made);
      return own_(made);
    }
    const Value on_true = body(0, {}), on_false = body(1, {});
    check_branches(on_true, on_false);
    return on_true;
  }

  Value while_loop() const {
    ValueList carried = call_.carried;
    Value condition = body(0, carried);
    check_loop_condition(condition);
    if (is_meta(condition)) return next(carried);
    for (int64_t done = 0; static_cast<bool>(condition); ++done) {
      check_limits(loop_limits(), call_.kind, done);
      carried = next(carried).as_sequence();
      condition = body(0, carried);
    }
    return own_(Value::tuple(std::move(carried)));
  }

  Value next(const ValueList& carried) const {
    const Value result = body(1, carried);
    if (!result.is_tuple())
      throw AssertionError("body_fn should return a tuple but got <class '" +
                           std::string(result.kind_name()) + "'>");
    check_carried_count(result.size(), carried.size());
    check_same_metadata(result.as_sequence(), carried, "body_fn_output",
                        "carried_inputs");
    return result;
  }

  ValueList slice(int64_t i) const {
    ValueList parts;
    for (const Value& x : call_.xs)
      parts.push_back(select(x, 0, i));
    return parts;
  }

  // All iterations, each a list of results; of meta tensors one, repeated.
  template <typename Step>
  std::vector<ValueList> iterate(const Step& step) const {
    const int64_t count = slice_count(call_);
    const bool known = !any_meta(call_);
    std::vector<ValueList> results;
    for (int64_t i = 0; i < (known ? count : 1); ++i) {
      check_limits(loop_limits(), call_.kind, i);
      results.push_back(step(i));
    }
    if (!known) results.resize(static_cast<size_t>(count), results[0]);
    return results;
  }

  // The results of all iterations, each in one tensor.
  static ValueList stacked(const std::vector<ValueList>& results,
                           size_t leaves) {
    ValueList all;
    for (size_t leaf = 0; leaf < leaves; ++leaf) {
      ValueList parts;
      for (const ValueList& result : results) parts.push_back(result.at(leaf));
      all.push_back(stack(Value::list(std::move(parts)), 0));
    }
    return all;
  }

  Value scan() const {
    ValueList carry = call_.carried;
    const std::vector<ValueList> results = iterate([&](int64_t i) {
      const ValueList made =
          tree_leaves(body(0, joined(carry, slice(i))));
      if (made.size() < carry.size())
        check_same_metadata(carry, made, "init", "carry");
      const auto split =
          made.begin() + static_cast<std::ptrdiff_t>(carry.size());
      const ValueList next(made.begin(), split);
      check_same_metadata(carry, next, "init", "carry");
      carry = next;
      return ValueList(split, made.end());
    });
    return Value::tuple(joined(own_(Value::list(carry)).as_sequence(),
                               stacked(results, results[0].size())));
  }

  Value associative_scan() const {
    ValueList before;
    const std::vector<ValueList> results = iterate([&](int64_t i) {
      before = i == 0 ? slice(i)
                      : tree_leaves(body(0, joined(before, slice(i))));
      return before;
    });
    return Value::list(stacked(results, call_.xs.size()));
  }

  Value map() const {
    TreeSpec spec;
    const std::vector<ValueList> results = iterate([&](int64_t i) {
      auto [leaves, shape] = tree_flatten(body(0, slice(i)));
      spec = std::move(shape);
      return leaves;
    });
    return tree_unflatten(stacked(results, spec.num_leaves()), spec);
  }

  const ControlCall& call_;
  const Owned own_;
};

}  // namespace

ValueList joined(ValueList first, const ValueList& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

Value run_control(const ControlCall& call) {
  // Bodies run: no tracer of this thread records them.
  const ActiveTracerScope none(nullptr);
  return Run(call)();
}

}  // namespace fxjit::fx
