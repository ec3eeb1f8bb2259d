// Ops that write elements to places that index tensors give. Each copies its
// first argument, unless the result has the same memory, and writes into the
// copy, in row-major order of the indices.
#include "fxjit/functions_structured.h"
#include "src/ops/families/index/gather_loops.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

using Results = std::span<const Tensor>;

// A 0-d tensor as one of one element.
Tensor at_least_1d(const Tensor& t) {
  return t.dim() > 0 ? t : t.as_strided({1}, {1}, t.offset());
}

Tensor as_places(const Tensor& index) {
  return index.dtype() == DType::i64 ? index : index.to(DType::i64);
}

// scatter

Put how_of(const OpCall& call) {
  if (!call.has(5)) return Put::copy;
  if (same(call[5], "add")) return Put::add;
  if (same(call[5], "multiply")) return Put::multiply;
  runtime_error("reduce argument must be either add or multiply.");
}

Value infer_scatter(const OpCall& call) {
  const Tensor &input = call.tensor(0), &index = call.tensor(2);
  const int axis = dim_arg(call, 1, input.dim());
  how_of(call);
  if (index.numel() > 0) check_lines("scatter", input, index, axis);
  if (call[3].is_tensor()) {
    const Tensor& source = call.tensor(3);
    if (source.dtype() != input.dtype())
      runtime_error("scatter(): Expected self.dtype to be equal to src.dtype");
    for (int d = 0; d < source.dim(); ++d)
      if (index.sizes()[d] > source.sizes()[d])
        runtime_error("Expected index ", index.sizes(),
                      " to be no larger than src ", source.sizes());
  }
  return Tensor::meta(input.sizes(), input.dtype());
}

void direct_scatter(const OpCall& call, Results results) {
  const Tensor &input = call.tensor(0), &index = call.tensor(2);
  if (results[0].data() != input.data()) results[0].copy_from(input);
  if (index.numel() == 0) return;
  Tensor source;
  if (call[3].is_tensor()) {
    source = call.tensor(3);
  } else {
    const double value = call.number(call.has(3) ? 3 : 4);
    source = Tensor::full({}, value, input.dtype())
                 .as_strided(index.sizes(), Dims(index.dim(), 0), 0);
  }
  put_along(source, dim_arg(call, 1, input.dim()), as_places(index),
            how_of(call), results[0]);
}

Value decompose_scatter_add(const OpCall& call) {
  return call_row("scatter", {call[0], call[1], call[2], call[3]},
                  {{"reduce", "add"}});
}

// index_add, index_copy: whole slices.

Value infer_slices(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  const Tensor &index = call.tensor(2), &source = call.tensor(3);
  const int axis = dim_arg(call, 1, input.dim());
  const std::string op = std::string(call.op.name()) + "_";
  const bool copies = op == "index_copy_";
  if (index.dim() > 1)
    throw IndexError(op +
                     (copies ? "(): Index should have dimension 1 or 0 (got "
                             : "(): Index is supposed to be a vector, but "
                               "got dim: ") +
                     std::to_string(index.dim()) + (copies ? ")" : ""));
  if (index.dtype() != DType::i64 && (index.dtype() != DType::i32 || copies))
    runtime_error(op, "(): Expected dtype int32/int64 for index");
  if (source.dtype() != input.dtype())
    runtime_error(op, "(): self (", torch_type_name(input.dtype()),
                  ") and source (", torch_type_name(source.dtype()),
                  ") must have the same scalar type");
  const int64_t given = source.dim() > 0 ? source.size(axis) : Size(1);
  if (source.dim() == input.dim() && given != index.numel())
    runtime_error(op, "(): Number of indices (", index.numel(),
                  ") should be equal to source.size(dim): (", given,
                  "), for dim: ", axis);
  Dims expected = input.sizes();
  if (input.dim() > 0) expected[axis] = index.numel();
  if (source.dim() != input.dim() || !(source.sizes() == expected))
    runtime_error(op, "(): expected source of shape ", expected, ", got ",
                  source.sizes());
  return Tensor::meta(input.sizes(), input.dtype());
}

void put_slices(const OpCall& call, bool add, const Tensor& source,
                Results results) {
  const Tensor out = at_least_1d(results[0]);
  const Tensor slices = at_least_1d(source);
  const int axis = dim_arg(call, 1, call.tensor(0).dim());
  const Tensor places = as_places(call.tensor(2));
  if (results[0].data() != call.tensor(0).data())
    results[0].copy_from(call.tensor(0));
  if (slices.numel() == 0) return;
  Dims strides(slices.dim(), 0);
  strides[axis] = places.dim() > 0 ? places.strides()[0] : Size(1);
  put_along(slices, axis,
            places.as_strided(slices.sizes(), strides, places.offset()),
            add ? Put::add : Put::copy, out);
}

void direct_index_add(const OpCall& call, Results results) {
  Tensor source = call.tensor(3);
  if (call.number(4) != 1)
    source = fxjit::mul(Value(source), call[4]).as_tensor().to(source.dtype());
  put_slices(call, true, source, results);
}

// An error of its own, as torch has it.
void check_places(const Tensor& places, int axis, int64_t size) {
  for (const int64_t i : places.to_ints())
    if (i < 0 || i >= size)
      throw IndexError(concat("index_copy_(): index ", i,
                              " is out of bounds for dimension ", axis,
                              " with size ", size));
}

void direct_index_copy(const OpCall& call, Results results) {
  const Tensor& input = call.tensor(0);
  const int axis = dim_arg(call, 1, input.dim());
  check_places(call.tensor(2), axis,
               input.dim() > 0 ? input.size(axis) : Size(1));
  put_slices(call, false, call.tensor(3), results);
}

constexpr OpRow kScatteringRows[] = {
    direct_row("scatter",
               "input, dim, index, src=None, value=None, *, reduce=None",
               "torch.scatter .scatter", infer_scatter, direct_scatter)
        .stating({.numbers = {"value"}, .update = UpdateKind::elements}),
    composed_row("scatter_add", "input, dim, index, src",
                 "torch.scatter_add .scatter_add", decompose_scatter_add),
    direct_row("index_add", "input, dim, index, source, *, alpha=1",
               "torch.index_add .index_add", infer_slices, direct_index_add)
        .stating({.numbers = {"alpha"}, .update = UpdateKind::slices}),
    direct_row("index_copy", "input, dim, index, source",
               "torch.index_copy .index_copy", infer_slices, direct_index_copy)
        .stating({.update = UpdateKind::slices}),
};

}  // namespace

std::span<const OpRow> scattering_rows() { return kScatteringRows; }

}  // namespace fxjit::ops
