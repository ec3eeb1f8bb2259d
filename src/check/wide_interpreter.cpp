#include "src/check/wide_interpreter.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "src/tensor/memory_order.h"

namespace fxjit::checking {
namespace {

bool shares_memory(const Value& result, const ValueList& args) {
  bool found = false;
  visit_leaves(result, [&](const Value& made) {
    if (!made.is_tensor()) return;
    visit_leaves(Value::list(args), [&](const Value& arg) {
      found = found || (arg.is_tensor() && arg.as_tensor().storage() ==
                                               made.as_tensor().storage());
    });
  });
  return found;
}

template <typename Fn>
void visit_tensors(const Value& value, Fn fn) {
  visit_leaves(value, [&](const Value& leaf) {
    if (leaf.is_tensor()) fn(leaf.as_tensor());
  });
}

template <typename Fn>
Value map_tensors(const Value& value, Fn fn) {
  return map_leaves(value, [&](const Value& leaf) -> Value {
    return leaf.is_tensor() ? Value(fn(leaf.as_tensor())) : leaf;
  });
}

template <typename Fn>
ValueList map_tensors(const ValueList& args, Fn fn) {
  return map_tensors(Value::list(args), fn).as_sequence();
}

Value widened(const Value& value) {
  return map_leaves(value, [](const Value& leaf) -> Value {
    return leaf.is_dtype() && leaf.as_dtype() == DType::f32 ? DType::f64 : leaf;
  });
}

Kwargs widened(const Kwargs& kwargs) {
  Kwargs result;
  for (const auto& [name, value] : kwargs)
    result.emplace_back(name, widened(value));
  return result;
}

// A copy of `result` for a cast that does nothing in double precision, with
// memory of its own and laid out like the result of the cast in the graph's own
// types.
Value own(const Value& result, const ValueList& args, const NarrowFact& fact) {
  if (!result.is_tensor() || !shares_memory(result, args)) return result;
  const Tensor& t = result.as_tensor();
  int64_t count = t.numel() > 0 ? 1 : 0;
  for (int d = 0; d < t.dim() && count > 0; ++d)
    count += (t.sizes()[d] - 1) * fact.strides[d];
  const Tensor made =
      Tensor::empty({count}, t.dtype()).as_strided(t.sizes(), fact.strides, 0);
  made.copy_from(t);
  return made;
}

// With the dims in the same order of memory: views of results follow from it.
Tensor in_double(const Tensor& t) {
  const Dims strides = strides_in_order(t.sizes(), memory_order(t));
  const Tensor made =
      Tensor::empty(t.sizes(), DType::f64).as_strided(t.sizes(), strides, 0);
  made.copy_from(t);
  return made;
}

bool repeats_elements(const Tensor& t) {
  for (int d = 0; d < t.dim(); ++d)
    if (t.sizes()[d] > 1 && t.strides()[d] == 0) return true;
  return false;
}

// Whether the op subtracts numbers of the size of its argument from each other
// inside. The error of a small result then follows the size of the argument.
bool cancels_inside(const ops::Op* op) {
  if (!op) return false;
  const std::string_view name = op->name();
  return name == "gelu" || name.ends_with("log_softmax");
}

double greatest(const ValueList& args) {
  double most = 0;
  visit_tensors(Value::list(args), [&](const Tensor& t) {
    if (!is_floating(t.dtype())) return;
    const Tensor wide = t.to(DType::f64).contiguous();
    for (int64_t i = 0; i < wide.numel(); ++i)
      if (const double value = std::abs(wide.data_as<double>()[i]);
          std::isfinite(value))
        most = std::max(most, value);
  });
  return most;
}

bool any_floating(const ValueList& args) {
  bool found = false;
  visit_tensors(Value::list(args), [&](const Tensor& t) {
    found = found || is_floating(t.dtype());
  });
  return found;
}

bool same_shape(const Value& a, const Value& b) {
  return a.is_tensor() && b.is_tensor() &&
         a.as_tensor().sizes() == b.as_tensor().sizes();
}

// The length of the longest sum that a call may contain: the number of elements
// that one result may depend on.
double sum_length(const ops::Op& op, const ValueList& args,
                  const Value& result) {
  double greatest = 1, all = 1, made = 0;
  visit_tensors(
      result, [&](const Tensor& t) { made += static_cast<double>(t.numel()); });
  visit_tensors(Value::list(args), [&](const Tensor& t) {
    for (int64_t size : t.sizes())
      greatest = std::max(greatest, static_cast<double>(size));
    all = std::max(all, static_cast<double>(t.numel()));
  });
  if (op.row.lowering == ops::Lowering::convolution) {
    const Tensor& weight = args[1].as_tensor();
    return static_cast<double>(weight.numel()) /
           static_cast<double>(std::max<int64_t>(1, weight.size(1)));
  }
  return std::max(greatest, all / std::max(1.0, made));
}

// The same for a layer. It may sum along any dim of its inputs or, for a
// parameter, over all elements that belong to one output.
double layer_length(const nn::Module& layer, const ValueList& args) {
  double longest = 1;
  visit_tensors(Value::list(args), [&](const Tensor& t) {
    for (int64_t size : t.sizes())
      longest = std::max(longest, static_cast<double>(size));
  });
  for (const auto& [name, parameter] : layer.named_parameters())
    if (parameter.defined() && parameter.tensor().dim() > 0)
      longest =
          std::max(longest, static_cast<double>(parameter.tensor().numel()) /
                                static_cast<double>(std::max<int64_t>(
                                    1, parameter.tensor().size(0))));
  return longest;
}

// What rounding may do to arguments and result of a call, relative, in units in
// the last place of the type that is computed in. Errors of sums grow as the
// root of their length: n of them that do not know each other, each at the
// level of sums.
double rounding_steps(const WideInterpreter::Called& called,
                      const ValueList& args, const Value& result) {
  constexpr double kElementwise = 2;  // Of smooth functions.
  if (called.module)
    return kElementwise + 2 * std::sqrt(layer_length(*called.module, args));
  const ops::Op* const op = called.op();
  if (!op || op->row.lowering == ops::Lowering::scalar) return kElementwise;
  const double of_sum = std::sqrt(sum_length(*op, args, result));
  // Winograd's transforms round up to twice as much as direct sums.
  const bool transforms = op->row.lowering == ops::Lowering::convolution;
  return kElementwise + (transforms ? 2 : 1) * of_sum;
}

bool writes(const WideInterpreter::Called& called, const ValueList& args,
            const Kwargs& kwargs) {
  if (called.sets_item) return true;
  if (!called.spelling) return false;
  return ops::writes_input(
      {*called.op(), ops::bind(*called.spelling, args, kwargs)});
}

}  // namespace

double ulp(DType type) {
  switch (type) {
    case DType::f64:
      return 0x1p-52;
    case DType::f16:
      return 0x1p-10;
    case DType::bf16:
      return 0x1p-7;
    case DType::f8e4m3:
      return 0x1p-3;
    case DType::f8e5m2:
      return 0x1p-2;
    default:
      return 0x1p-23;
  }
}

// --- In the graph's own types. ---

Value RecordingInterpreter::note(Value result, const ValueList& args) {
  NarrowFact fact;
  fact.fresh = !shares_memory(result, args);
  const Value& made = result.is_none() ? Value::list(args) : result;
  bool first = true;
  visit_tensors(made, [&](const Tensor& t) {
    if (first) fact.dtype = t.dtype(), fact.strides = t.strides();
    first = false;
  });
  facts.push_back(fact);
  return result;
}

Value RecordingInterpreter::call_function(const fx::Target& target,
                                          const ValueList& args,
                                          const Kwargs& kwargs) {
  return note(Interpreter::call_function(target, args, kwargs), args);
}

Value RecordingInterpreter::call_method(const fx::Target& target,
                                        const ValueList& args,
                                        const Kwargs& kwargs) {
  return note(Interpreter::call_method(target, args, kwargs), args);
}

Value RecordingInterpreter::call_module(const fx::Target& target,
                                        const ValueList& args,
                                        const Kwargs& kwargs) {
  return note(Interpreter::call_module(target, args, kwargs), args);
}

// --- In double precision. ---

WideInterpreter::WideInterpreter(const fx::GraphModule& module,
                                 const NarrowFacts& facts, uint32_t seed)
    : Interpreter(module), facts_(facts), disturbs_(seed != 0), random_(seed) {}

Value WideInterpreter::call_function(const fx::Target& target,
                                     const ValueList& args,
                                     const Kwargs& kwargs) {
  const Kwargs wide = widened(kwargs);
  return compute(
      {target.spelling(), target.text() == "_operator.setitem", nullptr}, args,
      wide, [&](const ValueList& given) {
        return Interpreter::call_function(target, given, wide);
      });
}

Value WideInterpreter::call_method(const fx::Target& target,
                                   const ValueList& args,
                                   const Kwargs& kwargs) {
  const Kwargs wide = widened(kwargs);
  const fx::Target called =
      target.text() == "float" ? fx::Target("double") : target;
  return compute({ops::find_method(target.text()),
                  target.text() == "__setitem__", nullptr},
                 args, wide, [&](const ValueList& given) {
                   return Interpreter::call_method(called, given, wide);
                 });
}

Value WideInterpreter::call_module(const fx::Target& target,
                                   const ValueList& args,
                                   const Kwargs& kwargs) {
  const Kwargs wide = widened(kwargs);
  const nn::Module* const layer = module().find_submodule(target.text());
  return compute({nullptr, false, layer}, args, wide,
                 [&](const ValueList& given) {
                   return Interpreter::call_module(target, given, wide);
                 });
}

Value WideInterpreter::compute(const Called& called, const ValueList& given,
                               const Kwargs& kwargs, const Call& call) {
  const NarrowFact& fact = facts_[next_++];
  ValueList args;
  for (const Value& arg : given) args.push_back(widened(arg));
  const Value exact = computed(args, call);
  const double steps = rounding_steps(called, args, exact);
  const bool brief = ulp(fact.dtype) > ulp(DType::f32);
  const double rounding = steps * ulp(brief ? DType::f32 : fact.dtype);
  const double of_result = rounding + (brief ? ulp(fact.dtype) : 0);
  if (writes(called, args, kwargs)) {
    if (disturbs_) disturb(args[0].as_tensor(), of_result);
    return exact;
  }
  if (!fact.fresh) return exact;
  if (!disturbs_) return own(exact, args, fact);
  const ValueList rough_args = disturbed(args, rounding);
  const Value rough = own(computed(rough_args, call), rough_args, fact);
  const double lost =
      cancels_inside(called.op()) ? rounding * greatest(args) : 0;
  visit_tensors(rough, [&](const Tensor& t) { disturb(t, of_result, lost); });
  return rough;
}

// The result of a call in double precision where its own result is in single. A
// result made of integers alone is made of wider integers.
Value WideInterpreter::computed(const ValueList& args, const Call& call) {
  const Value result = call(args);
  bool single = false;
  visit_tensors(result, [&](const Tensor& t) {
    single = single || t.dtype() == DType::f32;
  });
  if (!single) return result;
  if (!any_floating(args)) {
    try {
      const Value wide = call(map_tensors(args, in_double));
      if (same_shape(wide, result) && wide.as_tensor().dtype() == DType::f64)
        return wide;
    } catch (const Error&) {
      // Integers that must be integers, such as indices: of float32 then.
    }
  }
  return map_tensors(result, [](const Tensor& t) {
    return t.dtype() == DType::f32 ? in_double(t) : t;
  });
}

ValueList WideInterpreter::disturbed(const ValueList& args, double scale) {
  return map_tensors(args, [&](const Tensor& t) {
    if (!is_floating(t.dtype())) return t;
    // Elements that share a place are disturbed apart: code keeps them so.
    MemoryCopies copies;
    const Tensor copy = repeats_elements(t) ? t.clone() : copies(t);
    disturb(copy, scale);
    return copy;
  });
}

// By half of `scale` at least, so that no deviation is missed; not all by the
// same, so that deviations of two values do not cancel.
void WideInterpreter::disturb(const Tensor& t, double scale, double offset) {
  if (!is_floating(t.dtype())) return;
  const Tensor wide = t.to(DType::f64).clone();
  double* const values = wide.data_as<double>();
  for (int64_t i = 0; i < wide.numel(); ++i) {
    const uint32_t bits = random_();
    const double size = (bits & 1 ? 1 : -1) * (0.5 + (bits >> 1) * 0x1p-31);
    values[i] = values[i] * (1 + size * scale) + size * offset;
  }
  t.copy_from(wide);
}

}  // namespace fxjit::checking
