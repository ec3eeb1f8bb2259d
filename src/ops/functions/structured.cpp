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
Value amax(const Arg& input, const Arg& dim, const Arg& keepdim) {
  return call("torch.amax", {input, dim, keepdim});
}
Value amin(const Arg& input, const Arg& dim, const Arg& keepdim) {
  return call("torch.amin", {input, dim, keepdim});
}
Value any(const Arg& input, const Arg& dim, const Arg& keepdim) {
  return call("torch.any", {input, dim, keepdim});
}
Value all(const Arg& input, const Arg& dim, const Arg& keepdim) {
  return call("torch.all", {input, dim, keepdim});
}
Value max(const Arg& input, const Arg& dim_or_other, const Arg& keepdim) {
  return call("torch.max", {input, dim_or_other, keepdim});
}
Value min(const Arg& input, const Arg& dim_or_other, const Arg& keepdim) {
  return call("torch.min", {input, dim_or_other, keepdim});
}
Value argmax(const Arg& input, const Arg& dim, const Arg& keepdim) {
  return call("torch.argmax", {input, dim, keepdim});
}
Value argmin(const Arg& input, const Arg& dim, const Arg& keepdim) {
  return call("torch.argmin", {input, dim, keepdim});
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
Value logsumexp(const Arg& input, const Arg& dim, const Arg& keepdim) {
  return call("torch.logsumexp", {input, dim, keepdim});
}
Value linalg_vector_norm(const Arg& input, const Arg& ord, const Arg& dim,
                         const Arg& keepdim) {
  return call("torch._C._linalg.linalg_vector_norm",
              {input, ord, dim, keepdim});
}
Value norm(const Arg& input, const Arg& p, const Arg& dim, const Arg& keepdim) {
  return call("torch.functional.norm", {input, p, dim, keepdim});
}
Value cumsum(const Arg& input, const Arg& dim) {
  return call("torch.cumsum", {input, dim});
}
Value softmax(const Arg& input, const Arg& dim, const Arg& dtype) {
  return call_typed("torch.softmax", {input, dim}, dtype);
}
Value log_softmax(const Arg& input, const Arg& dim, const Arg& dtype) {
  return call_typed("torch.log_softmax", {input, dim}, dtype);
}

Value reshape(const Arg& input, const Arg& shape) {
  return call("torch.reshape", {input, shape});
}
Value flatten(const Arg& input, const Arg& start_dim, const Arg& end_dim) {
  return call("torch.flatten", {input, start_dim, end_dim});
}
Value unflatten(const Arg& input, const Arg& dim, const Arg& sizes) {
  return call("torch.unflatten", {input, dim, sizes});
}
Value permute(const Arg& input, const Arg& dims) {
  return call("torch.permute", {input, dims});
}
Value transpose(const Arg& input, const Arg& dim0, const Arg& dim1) {
  return call("torch.transpose", {input, dim0, dim1});
}
Value t(const Arg& input) { return call("torch.t", {input}); }
Value movedim(const Arg& input, const Arg& source, const Arg& destination) {
  return call("torch.movedim", {input, source, destination});
}
Value squeeze(const Arg& input, const Arg& dim) {
  return call("torch.squeeze", {input, dim});
}
Value unsqueeze(const Arg& input, const Arg& dim) {
  return call("torch.unsqueeze", {input, dim});
}
Value select(const Arg& input, const Arg& dim, const Arg& index) {
  return call("torch.select", {input, dim, index});
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
Value chunk(const Arg& input, const Arg& chunks, const Arg& dim) {
  return call("torch.chunk", {input, chunks, dim});
}
Value unbind(const Arg& input, const Arg& dim) {
  return call("torch.unbind", {input, dim});
}
Value view(const Arg& input, const Arg& size) {
  return method(input, "view", {size.value});
}
Value expand(const Arg& input, const Arg& size) {
  return method(input, "expand", {size.value});
}

Value cat(const Arg& tensors, const Arg& dim) {
  return call("torch.cat", {tensors, dim});
}
Value stack(const Arg& tensors, const Arg& dim) {
  return call("torch.stack", {tensors, dim});
}
Value repeat(const Arg& input, const Arg& repeats) {
  return method(input, "repeat", {repeats.value});
}
Value repeat_interleave(const Arg& input, const Arg& repeats, const Arg& dim) {
  return call("torch.repeat_interleave", {input, repeats, dim});
}
Value flip(const Arg& input, const Arg& dims) {
  return call("torch.flip", {input, dims});
}
Value roll(const Arg& input, const Arg& shifts, const Arg& dims) {
  return call("torch.roll", {input, shifts, dims});
}
Value tril(const Arg& input, const Arg& diagonal) {
  return call("torch.tril", {input, diagonal});
}
Value triu(const Arg& input, const Arg& diagonal) {
  return call("torch.triu", {input, diagonal});
}
Value masked_select(const Arg& input, const Arg& mask) {
  return call("torch.masked_select", {input, mask});
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
Value index_select(const Arg& input, const Arg& dim, const Arg& index) {
  return call("torch.index_select", {input, dim, index});
}
Value gather(const Arg& input, const Arg& dim, const Arg& index) {
  return call("torch.gather", {input, dim, index});
}
Value take_along_dim(const Arg& input, const Arg& indices, const Arg& dim) {
  return call("torch.take_along_dim", {input, indices, dim});
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

Value matmul(const Arg& input, const Arg& other) {
  return call("torch.matmul", {input, other});
}
Value mm(const Arg& input, const Arg& mat2) {
  return call("torch.mm", {input, mat2});
}
Value bmm(const Arg& input, const Arg& mat2) {
  return call("torch.bmm", {input, mat2});
}
Value mv(const Arg& input, const Arg& vec) {
  return call("torch.mv", {input, vec});
}
Value dot(const Arg& input, const Arg& tensor) {
  return call("torch.dot", {input, tensor});
}
Value outer(const Arg& input, const Arg& vec2) {
  return call("torch.outer", {input, vec2});
}
Value addmm(const Arg& input, const Arg& mat1, const Arg& mat2) {
  return call("torch.addmm", {input, mat1, mat2});
}
Value baddbmm(const Arg& input, const Arg& batch1, const Arg& batch2) {
  return call("torch.baddbmm", {input, batch1, batch2});
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
