// Picking by index tensors becomes picking rows of a table where it can.
#include "src/passes/lower.h"

namespace fxjit::passes {
namespace {

// Picking along an inner dim is picking rows of the transposed tensor.
Value lower_index_select(GraphBuilder& b, const ValueList& args) {
  if (!args[0].is_proxy() || !args[2].is_proxy()) return {};
  const int rank = val_of(args[0]).dim();
  const Tensor index = val_of(args[2]);
  if (rank == 0 || index.dim() != 1) return {};
  if (rank == 1 && index.dtype() == DType::i64)
    return call(b, "gather", {args[0], 0, args[2]});
  const int dim = wrap_dim(args[1].as_int(), rank);
  if (dim == 0) return {};
  const Value rows = call(b, "movedim", {args[0], dim, 0});
  const Value picked = call(b, "index_select", {rows, 0, args[2]});
  return call(b, "movedim", {picked, 0, dim});
}

// The only index of x[..., i, ...]; -1 when there are others than `None`.
int only_index(const ValueList& indices) {
  int found = -1;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i].is_none()) continue;
    if (found >= 0 || !indices[i].is_proxy()) return -1;
    found = static_cast<int>(i);
  }
  return found;
}

// With one index tensor: rows of x as a matrix, or a selection along one dim.
// Negative indices count from the end.
Value lower_index(GraphBuilder& b, const ValueList& args) {
  if (!args[0].is_proxy() || !args[1].is_sequence()) return {};
  const Tensor table = val_of(args[0]);
  const int dim = only_index(args[1].as_sequence());
  if (dim < 0 || dim >= table.dim() || table.numel() == 0) return {};
  const Value& given = args[1].at(static_cast<size_t>(dim));
  const Tensor index = val_of(given);
  if (index.dtype() != DType::i64 && index.dtype() != DType::i32) return {};
  const int64_t size = table.sizes()[dim];
  const Value wrapped = call(
      b, "where",
      {call(b, "lt", {given, 0}), call(b, "add", {given, size}), given});
  if (dim > 0)
    return index.dim() == 1 ? call(b, "index_select", {args[0], dim, wrapped})
                            : Value();
  const Value matrix =
      call(b, "reshape", {args[0], Dims{size, table.numel() / size}});
  Dims sizes = index.sizes();
  for (int d = 1; d < table.dim(); ++d) sizes.push_back(table.sizes()[d]);
  return call(b, "reshape", {call(b, "embedding", {wrapped, matrix}), sizes});
}

// A dim backwards is its places picked from the last to the first.
Value lower_flip(GraphBuilder& b, const ValueList& args) {
  if (!args[0].is_proxy() || !args[1].is_sequence()) return {};
  const Tensor input = val_of(args[0]);
  if (input.dim() == 0 || input.numel() == 0) return {};
  Value result = args[0];
  for (const Value& axis : args[1].as_sequence()) {
    const int dim = wrap_dim(axis.as_int(), input.dim());
    const int64_t size = input.sizes()[dim];
    const Tensor places = Tensor::empty({size}, DType::i64);
    for (int64_t i = 0; i < size; ++i)
      places.data_as<int64_t>()[i] = size - 1 - i;
    result = call(b, "index_select", {result, dim, b.constant(places, true)});
  }
  return result;
}

}  // namespace

Value lower_gather(GraphBuilder& b, const ops::Op& op, const ValueList& args) {
  const std::string_view name = op.name();
  if (name == "index_select") return lower_index_select(b, args);
  if (name == "index") return lower_index(b, args);
  if (name == "flip") return lower_flip(b, args);
  return {};
}

}  // namespace fxjit::passes
