// Ops that pick elements by index tensors. Indices outside of the tensor raise
// IndexError (RuntimeError where torch does) with torch's texts.
#include <cstring>

#include "fxjit/functions_structured.h"
#include "src/ops/families/index/gather_loops.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/data_dependent.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

bool is_index_type(DType dtype) {
  return dtype == DType::i64 || dtype == DType::i32;
}

Value infer_embedding(const OpCall& call) {
  const Tensor &indices = call.tensor(0), &weight = call.tensor(1);
  if (weight.dim() != 2) runtime_error("'weight' must be 2-D");
  if (!is_index_type(indices.dtype()))
    runtime_error(
        "Expected tensor for argument #1 'indices' to have one of the "
        "following scalar types: Long, Int; but got torch.",
        torch_type_name(indices.dtype()),
        "Tensor instead (while checking arguments for embedding)");
  if (call.has(2)) {
    const int64_t padding = call.integer(2), rows = weight.sizes()[0];
    if (padding >= rows || padding < -rows)
      throw AssertionError("Padding_idx must be within num_embeddings");
  }
  if (call.has(3))
    throw NotImplementedError(
        "embedding: expected max_norm to be None, which would change weight");
  Dims sizes = indices.sizes();
  sizes.push_back(weight.sizes()[1]);
  return Tensor::meta(sizes, weight.dtype());
}

Value eager_embedding(const OpCall& call) {
  const Tensor out = empty_like(infer_embedding(call));
  const Tensor indices = call.tensor(0).to(DType::i64).contiguous();
  if (!pick_rows(call.tensor(1), 0, indices, false, out))
    throw IndexError("index out of range in self");
  return out;
}

// aten.embedding has the parameters the other way round.
Value decompose_aten_embedding(const OpCall& call) {
  return nn::functional::embedding(call[1], call[0]);
}

Value infer_index_select(const OpCall& call) {
  const Tensor &input = call.tensor(0), &index = call.tensor(2);
  const int axis = dim_arg(call, 1, input.dim());
  if (index.dim() > 1)
    throw IndexError("index_select(): Index is supposed to be a vector");
  if (!is_index_type(index.dtype()))
    runtime_error("index_select(): Expected dtype int32 or int64 for index");
  Dims sizes = input.sizes();
  if (input.dim() > 0) sizes[axis] = index.numel();
  return Tensor::meta(sizes, input.dtype());
}

Value eager_index_select(const OpCall& call) {
  const Tensor out = empty_like(infer_index_select(call));
  const Tensor indices = call.tensor(2).to(DType::i64).contiguous();
  Tensor input = call.tensor(0);
  if (input.dim() == 0) input = input.as_strided({1}, {1}, input.offset());
  if (!pick_rows(input, dim_arg(call, 1, input.dim()), indices, false, out))
    throw IndexError("index out of range in self");
  return out;
}

Value infer_gather(const OpCall& call) {
  const Tensor &input = call.tensor(0), &index = call.tensor(2);
  const int axis = dim_arg(call, 1, input.dim());
  if (index.numel() > 0) check_lines("gather", input, index, axis);
  return Tensor::meta(index.sizes(), input.dtype());
}

Value eager_gather(const OpCall& call) {
  const Tensor out = empty_like(infer_gather(call));
  const Tensor& input = call.tensor(0);
  const int axis = dim_arg(call, 1, input.dim());
  pick_along(input, axis, call.tensor(2).to(DType::i64), out);
  return out;
}

Value decompose_take_along_dim(const OpCall& call) {
  if (const DType type = meta_of(call[1]).dtype(); type != DType::i64)
    runtime_error(
        "torch.take_along_dim(): dtype of indices should be Long but got ",
        torch_type_name(type));
  if (!call.has(2))
    return fxjit::gather(fxjit::flatten(call[0]), 0, fxjit::flatten(call[1]));
  const Tensor input = meta_of(call[0]), index = meta_of(call[1]);
  if (input.dim() != index.dim())
    runtime_error(
        "torch.take_along_dim(): input and indices should have the same number "
        "of dimensions, but got ",
        input.dim(), " dimensions for input, and ", index.dim(),
        " dimensions for indices");
  const int axis = dim_arg(call, 2, input.dim());
  Dims input_sizes = input.sizes(), index_sizes = index.sizes();
  input_sizes[axis] = index_sizes[axis] = 1;
  Dims common = broadcast_shapes(input_sizes, index_sizes);
  common[axis] = input.sizes()[axis];
  const Value wide_input = fxjit::expand(call[0], common);
  common[axis] = index.sizes()[axis];
  // Indices count around the dim here, unlike gather's.
  const Value places = fxjit::remainder(call[1], input.sizes()[axis]);
  return fxjit::gather(wide_input, axis, fxjit::expand(places, common));
}

void check_classes(const Tensor& input) {
  if (input.dtype() != DType::i64)
    runtime_error(
        "one_hot is only applicable to index tensor of type LongTensor.");
}

Value infer_one_hot(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  const int64_t classes = call.integer(1);
  check_classes(input);
  if (classes < 0)
    throw DataDependentError(
        "one_hot: expected num_classes for a result of known shape; without "
        "it one_hot runs eagerly only");
  Dims sizes = input.sizes();
  sizes.push_back(classes);
  return Tensor::meta(sizes, DType::i64);
}

// Classes compared with all of them. Those looked up in a list of all cannot
// lie outside of it.
Value decompose_one_hot(const OpCall& call) {
  const int64_t count = call.integer(1);
  Dims sizes = meta_of(call[0]).sizes();
  sizes.push_back(count);
  check_memory(sizes, DType::i64);
  if (numel(sizes) == 0) return fxjit::zeros(sizes, DType::i64);
  const Value classes = fxjit::arange(count);
  const Value known =
      nn::functional::embedding(call[0], fxjit::unsqueeze(classes, 1));
  return cast_to(fxjit::eq(known, classes), DType::i64);
}

Value eager_one_hot(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  int64_t classes = call.integer(1);
  check_classes(input);
  const std::vector<int64_t> indices = input.to_ints();
  const bool found = classes < 0;
  if (found && indices.empty())
    runtime_error("Can not infer total number of classes from empty tensor.");
  for (int64_t index : indices) {
    if (index < 0) runtime_error("Class values must be non-negative.");
    if (found) classes = std::max<int64_t>(classes, ExactInt(index) + 1);
    if (!found && index >= classes)
      runtime_error("Class values must be smaller than num_classes.");
  }
  Dims sizes = input.sizes();
  sizes.push_back(classes);
  const Tensor out = Tensor::zeros(sizes, DType::i64);
  int64_t* row = out.data_as<int64_t>();
  for (int64_t index : indices) {
    row[index] = 1;
    row += classes;
  }
  return out;
}

constexpr OpRow kGatherRows[] = {
    lowered_row(
        "embedding",
        "input, weight, padding_idx=None, max_norm=None, norm_type=2.0, "
        "scale_grad_by_freq=False, sparse=False",
        "F.embedding! nn.Embedding", Lowering::gather, infer_embedding,
        eager_embedding)
        .stating(
            {.gather = {.kind = GatherKind::rows, .table = 1, .index = 0}}),
    composed_row("aten_embedding",
                 "weight, indices, padding_idx=-1, scale_grad_by_freq=False, "
                 "sparse=False",
                 "torch.embedding", decompose_aten_embedding)
        .stating(
            {.gather = {.kind = GatherKind::rows, .table = 0, .index = 1}}),
    lowered_row("index_select", "input, dim, index",
                "torch.index_select .index_select", Lowering::gather,
                infer_index_select, eager_index_select)
        .stating(
            {.gather = {.kind = GatherKind::slices, .index = 2, .dim = 1}}),
    lowered_row("gather", "input, dim, index, *, sparse_grad=False",
                "torch.gather .gather", Lowering::gather, infer_gather,
                eager_gather)
        .stating(
            {.gather = {.kind = GatherKind::elements, .index = 2, .dim = 1},
             .native = NativeCalls::elements}),
    composed_row("take_along_dim", "input, indices, dim=None",
                 "torch.take_along_dim .take_along_dim",
                 decompose_take_along_dim)
        .stating({.native = NativeCalls::elements}),
    made_row("one_hot", "tensor, num_classes=-1",
             "torch._C._nn.one_hot =F.one_hot", infer_one_hot, eager_one_hot,
             decompose_one_hot),
};

}  // namespace

std::span<const OpRow> gather_rows() { return kGatherRows; }

}  // namespace fxjit::ops
