#include "src/passes/channels_last.h"

#include <algorithm>

#include "src/passes/lowering/internal_ops.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/split_channels.h"
#include "src/tensor/visit.h"

namespace fxjit::passes {
namespace {

using ops::Lowering;

// Logical dims in order of memory: 0, 2, ..., 1.
Dims memory_order(int rank) {
  Dims order{0};
  for (int d = 2; d < rank; ++d) order.push_back(d);
  order.push_back(1);
  return order;
}

// Where a logical dim lies in memory order.
int64_t memory_dim(int64_t dim, int rank) {
  if (dim == 1) return rank - 1;
  return dim > 1 ? dim - 1 : dim;
}

Value permute(GraphBuilder& b, const Value& x, const Dims& order) {
  return call(b, "permute", {x, order});
}

// A view [N, C, 1, ...] of a node [N, 1, ..., C], whose strides tell nothing.
bool views_memory_order(const Value& x) {
  const fx::Node* node = GraphBuilder::node_of(x);
  if (node->called_op() != &as_strided_op()) return false;
  const Tensor root = node->arg_node(0)->val_tensor(), t = val_of(x);
  const int rank = t.dim();
  if (rank < 3 || root.dim() != rank || root.size(0) != t.size(0) ||
      root.size(-1) != t.size(1))
    return false;
  for (int d = 2; d < rank; ++d)
    if (t.size(d) != 1 || root.size(d - 1) != 1) return false;
  return true;
}

// Broadcasting operands get the dims they lack; single numbers stay as they
// are, since they are promoted by other rules.
Value operand_in_order(GraphBuilder& b, const Value& x, const Dims& result) {
  const int rank = result.size();
  if (!x.is_proxy()) return x;
  const Tensor t = val_of(x);
  if (t.dim() == 0) return x;
  if (t.dim() < rank) {
    Dims sizes(rank - t.dim(), 1);
    for (int64_t size : t.sizes()) sizes.push_back(size);
    return channels_to_back(b, call(b, "reshape", {x, sizes}));
  }
  const Value ordered = channels_to_back(b, x);
  if (t.sizes() != result || is_channels_last(t) || views_memory_order(x))
    return ordered;
  // The copy that a convolution of `x` makes, or a part of this call's loop.
  return b.call(materialize_op(), {ordered});
}

// Operands of the result's shape vote; planes of images win a draw, since
// convolutions read them, rows of tokens lose it.
bool prefers_channels_last(const ValueList& operands, const Dims& result) {
  int last = 0, plain = 0;
  for (const Value& operand : operands) {
    if (!operand.is_proxy() || !operand.as_proxy()->val().is_tensor()) continue;
    const Tensor t = val_of(operand);
    if (t.sizes() != result) continue;
    is_channels_last(t) || views_memory_order(operand) ? ++last : ++plain;
  }
  return last > plain || (last > 0 && last == plain && result.size() > 3);
}

Value elementwise(GraphBuilder& b, const ops::Op& op, const ValueList& args) {
  if (&op == &materialize_op()) return {};
  Dims result;
  for (const Value& arg : args)
    if (arg.is_proxy() && arg.as_proxy()->val().is_tensor())
      result = result.empty() ? val_of(arg).sizes()
                              : broadcast_shapes(result, val_of(arg).sizes());
  if (reads_position(op, args)) return {};
  if (!prefers_channels_last(args, result))
    return elementwise_of_split(b, op, args);
  ValueList ordered;
  for (const Value& arg : args)
    ordered.push_back(operand_in_order(b, arg, result));
  return channels_to_front(b, b.call_in_memory_order(op, std::move(ordered)));
}

// With some dims gone the rest lie in memory order; puts them in logical order.
Value kept_in_logical_order(GraphBuilder& b, const Value& x,
                            const std::vector<bool>& reduced) {
  const Dims memory = memory_order(static_cast<int>(reduced.size()));
  Dims kept, order;
  for (int64_t d : memory)
    if (!reduced[static_cast<size_t>(d)]) kept.push_back(d);
  Dims sorted = kept;
  std::sort(sorted.begin(), sorted.end());
  for (int64_t d : sorted)
    order.push_back(std::find(kept.begin(), kept.end(), d) - kept.begin());
  return permute(b, x, order);
}

Value reduction(GraphBuilder& b, const ops::Op& op, const ValueList& args) {
  const int at = op.index_of("dim"), keep = op.index_of("keepdim");
  if (at < 0 || keep < 0 || !args[0].is_proxy()) return {};
  const Tensor t = val_of(args[0]);
  const Value& dim = args[static_cast<size_t>(at)];
  if (dim.is_none() || !args[keep].is_bool()) return {};
  if (!is_channels_last(t)) {
    const Dims dims = dim.is_sequence() ? dim.as_dims() : Dims{dim.as_int()};
    if (dims.empty()) return {};
    return reduction_of_split(b, op, args, dims, static_cast<size_t>(at),
                              args[keep].as_bool());
  }
  const int rank = t.dim();
  ValueList ordered = args;
  ordered[0] = channels_to_back(b, args[0]);
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  Dims dims;
  for (int64_t d : dim.is_sequence() ? dim.as_dims() : Dims{dim.as_int()}) {
    const int64_t logical = wrap_dim(d, rank);
    reduced[static_cast<size_t>(logical)] = true;
    dims.push_back(memory_dim(logical, rank));
  }
  if (dims.empty()) return {};
  ordered[at] = dim.is_sequence() ? Value(dims) : Value(dims[0]);
  const Value result = b.call_in_memory_order(op, ordered);
  if (args[keep].as_bool()) return channels_to_front(b, result);
  return kept_in_logical_order(b, result, reduced);
}

Value concatenation(GraphBuilder& b, const ops::Op& op, const ValueList& args) {
  ValueList metas;
  for (const Value& arg : args) metas.push_back(meta_of(arg));
  const Dims result = ops::infer({op, metas}).as_tensor().sizes();
  const int rank = result.size();
  int last = 0, plain = 0;
  ValueList parts;
  for (const Value& part : args[0].as_sequence()) {
    if (!part.is_proxy()) return {};
    const Tensor t = val_of(part);
    if (t.dim() != rank) continue;  // torch skips old-style empty tensors.
    parts.push_back(part);
    if (b.constant_of(part)) continue;  // Is written in any order.
    is_channels_last(t) ? ++last : ++plain;
  }
  if (last == 0 || (rank < 4 && last < plain)) return {};
  for (Value& part : parts) part = channels_to_back(b, part);
  const int64_t dim = memory_dim(wrap_dim(args[1].as_int(), rank), rank);
  return channels_to_front(
      b, b.call_in_memory_order(op, {Value::list(std::move(parts)), dim}));
}

}  // namespace

bool reads_position(const ops::Op& op, const ValueList& args) {
  ValueList metas;
  for (const Value& arg : args) metas.push_back(meta_of(arg));
  const ScalarBody body = ops::scalar_body({op, metas});
  return std::any_of(body.instrs.begin(), body.instrs.end(),
                     [](const auto& i) { return i.prim == Prim::index; });
}

bool is_channels_last(const Tensor& t) {
  const int rank = t.dim();
  if (rank < 3 || t.sizes()[1] < 2 || t.strides()[1] != 1) return false;
  int64_t reach = t.sizes()[1];  // Elements that the dims so far span.
  bool places = false;
  for (int i = rank - 2; i >= 0; --i) {
    const int d = i == 0 ? 0 : i + 1;
    if (t.sizes()[d] == 1) continue;
    if (t.strides()[d] < reach) return false;
    reach = t.strides()[d] * t.sizes()[d];
    places |= d != 0;
  }
  return places;
}

Value channels_to_back(GraphBuilder& b, const Value& x) {
  return permute(b, x, memory_order(val_of(x).dim()));
}

Value channels_to_front(GraphBuilder& b, const Value& x) {
  const int rank = val_of(x).dim();
  Dims order{0, rank - 1};
  for (int d = 1; d < rank - 1; ++d) order.push_back(d);
  return permute(b, x, order);
}

Value lower_channels_last(GraphBuilder& b, const ops::Op& op,
                          const ValueList& args) {
  switch (op.row.lowering) {
    case Lowering::scalar:
      return elementwise(b, op, args);
    case Lowering::reduce:
      return reduction(b, op, args);
    case Lowering::cat:
      return concatenation(b, op, args);
    default:
      return {};
  }
}

}  // namespace fxjit::passes
