#include "fxjit/functions_structured.h"

#include "src/ops/functions/call.h"

namespace fxjit {

using functions::call;
using functions::call_typed;
using functions::call_with;

Value sum(const Arg& input, const Arg& dim, const Arg& keepdim,
          const Arg& dtype) {
  return call_typed("torch.sum", {input, dim, keepdim}, dtype);
}
Value prod(const Arg& input, const Arg& dim, const Arg& keepdim,
           const Arg& dtype) {
  return call_typed("torch.prod", {input, dim, keepdim}, dtype);
}
Value mean(const Arg& input, const Arg& dim, const Arg& keepdim,
           const Arg& dtype) {
  return call_typed("torch.mean", {input, dim, keepdim}, dtype);
}
Value var(const Arg& input, const Arg& dim, const Arg& correction,
          const Arg& keepdim) {
  return call_with("torch.var", {input, dim},
                   {{"correction", correction}, {"keepdim", keepdim}});
}
Value std(const Arg& input, const Arg& dim, const Arg& correction,
          const Arg& keepdim) {
  return call_with("torch.std", {input, dim},
                   {{"correction", correction}, {"keepdim", keepdim}});
}
Value linalg_vector_norm(const Arg& input, const Arg& ord, const Arg& dim,
                         const Arg& keepdim) {
  return call("torch._C._linalg.linalg_vector_norm",
              {input, ord, dim, keepdim});
}
Value norm(const Arg& input, const Arg& p, const Arg& dim, const Arg& keepdim) {
  return call("torch.functional.norm", {input, p, dim, keepdim});
}
Value softmax(const Arg& input, const Arg& dim, const Arg& dtype) {
  return call_typed("torch.softmax", {input, dim}, dtype);
}
Value log_softmax(const Arg& input, const Arg& dim, const Arg& dtype) {
  return call_typed("torch.log_softmax", {input, dim}, dtype);
}

Value narrow(const Arg& input, const Arg& dim, const Arg& start,
             const Arg& length) {
  return call("torch.narrow", {input, dim, start, length});
}
Value diagonal(const Arg& input, const Arg& offset, const Arg& dim1,
               const Arg& dim2) {
  return call("torch.diagonal", {input, offset, dim1, dim2});
}
Value as_strided(const Arg& input, const Arg& size, const Arg& stride,
                 const Arg& storage_offset) {
  return call("torch.as_strided", {input, size, stride, storage_offset});
}
Value split(const Arg& tensor, const Arg& split_size_or_sections,
            const Arg& dim) {
  return call("torch.functional.split", {tensor, split_size_or_sections, dim});
}
Value view(const Arg& input, const Arg& size) {
  return method(input, "view", {size.value});
}
Value expand(const Arg& input, const Arg& size) {
  return method(input, "expand", {size.value});
}

Value repeat(const Arg& input, const Arg& repeats) {
  return method(input, "repeat", {repeats.value});
}
Value nonzero(const Arg& input, const Arg& as_tuple) {
  return call_with("torch.nonzero", {input}, {{"as_tuple", as_tuple}});
}
Value unique(const Arg& input, const Arg& return_inverse,
             const Arg& return_counts, const Arg& dim) {
  return call("torch.functional.unique",
              {input, true, return_inverse, return_counts, dim});
}
Value item(const Arg& input) { return method(input, "item"); }
Value quantile(const Arg& input, const Arg& q, const Arg& dim,
               const Arg& keepdim, const Arg& interpolation) {
  return call_with("torch.quantile", {input, q, dim, keepdim},
                   {{"interpolation", interpolation}});
}
Value scatter(const Arg& input, const Arg& dim, const Arg& index,
              const Arg& src) {
  return call("torch.scatter", {input, dim, index, src});
}
Value scatter_add(const Arg& input, const Arg& dim, const Arg& index,
                  const Arg& src) {
  return call("torch.scatter_add", {input, dim, index, src});
}
Value index(const Arg& input, const Arg& indices) {
  return call("aten.index.Tensor", {input, indices});
}

Value einsum(std::string_view equation, const Arg& operands) {
  ValueList args{equation};
  for (const Value& operand : operands.value.as_sequence())
    args.push_back(operand);
  return functions::call_exactly("torch.functional.einsum", std::move(args),
                                 operands.source);
}

Value zeros(const Arg& size, const Arg& dtype) {
  return call_typed("torch.zeros", {size}, dtype);
}
Value ones(const Arg& size, const Arg& dtype) {
  return call_typed("torch.ones", {size}, dtype);
}
Value full(const Arg& size, const Arg& fill_value, const Arg& dtype) {
  return call_typed("torch.full", {size, fill_value}, dtype);
}
Value arange(const Arg& start, const Arg& end, const Arg& step,
             const Arg& dtype) {
  return call_typed("torch.arange", {start, end, step}, dtype);
}
Value eye(const Arg& n, const Arg& m, const Arg& dtype) {
  return call_typed("torch.eye", {n, m}, dtype);
}
Value linspace(const Arg& start, const Arg& end, const Arg& steps,
               const Arg& dtype) {
  return call_typed("torch.linspace", {start, end, steps}, dtype);
}

}  // namespace fxjit
