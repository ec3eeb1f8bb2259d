#include "src/ops/families/complex/complex_parts.h"

#include "src/ops/eager/complex_calls.h"

namespace fxjit::ops {

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
