#include "src/ops/families/complex/complex_parts.h"

#include "src/ops/eager/complex_calls.h"

namespace fxjit::ops {

Value call_op(const Op& op, std::span<const Value> args) {
  ValueList positional;
  Kwargs named;
  for (size_t i = 0; i < args.size(); ++i) {
    if (op.parameters[i].keyword_only)
      named.emplace_back(op.parameters[i].name, args[i]);
    else
      positional.push_back(args[i]);
  }
  return call_function(op.canonical, std::move(positional), std::move(named));
}

bool is_tensor(const Value& value) {
  return value.is_tensor() || value.is_proxy();
}

bool is_complex_tensor(const Value& value) {
  return is_tensor(value) && is_complex(meta_of(value).dtype());
}

Value truth_of(const Value& input) {
  return fxjit::ne(real_of(input), 0) | fxjit::ne(imag_of(input), 0);
}

Value magnitude_of(const Value& input) {
  return function("torch.hypot", {real_of(input), imag_of(input)});
}

Value pairs_of(const Value& input) { return call_row("view_as_real", {input}); }
Value real_of(const Value& input) { return call_row("real", {input}); }
Value imag_of(const Value& input) { return call_row("imag", {input}); }

Value complex_of(const Value& pairs) {
  const Tensor meta = meta_of(pairs);
  return call_row("view_as_complex",
                  {holds_pairs(meta) ? pairs : method(pairs, "contiguous")});
}

Value complex_of(const Value& real, const Value& imag) {
  return complex_of(fxjit::stack(Value::list({real, imag}), -1));
}

Value as_complex(const Value& value, DType dtype) {
  const DType from = meta_of(value).dtype(), part = part_type(dtype);
  if (from == dtype) return value;
  if (is_complex(from)) return complex_of(cast_to(pairs_of(value), part));
  const Value real = cast_to(value, part);
  return complex_of(real, fxjit::zeros_like(real));
}

Value conjugate(const Value& input) { return call_row("conj", {input}); }

}  // namespace fxjit::ops
