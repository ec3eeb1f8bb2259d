#include "src/passes/channels_last.h"

#include "src/passes/lowering/internal_ops.h"
#include "src/passes/lowering/lower.h"
#include "src/tensor/visit.h"

namespace fxjit::passes {
namespace {

using ops::Lowering;

// Fewest dims of a tensor whose channels count as two dims. With fewer dims
// they are as often tokens and heads, for which matrix products need the
// logical order.
constexpr int kLeastSplitRank = 5;

// The logical dims from the outermost to the innermost in memory, if the
// `channel_dims` dims from 1 on lie innermost: (0, 2, 3, 1) for one dim of
// channels of four, (0, 3, 4, 1, 2) for two of five.
Dims order_of(int rank, int channel_dims) {
  Dims order{0};
  for (int d = 1 + channel_dims; d < rank; ++d) order.push_back(d);
  for (int d = 1; d <= channel_dims; ++d) order.push_back(d);
  return order;
}

// Whether the dims of `t` lie in memory as order_of says. False also where the
// logical order describes the same memory.
bool lies_so(const Tensor& t, int channel_dims) {
  const int rank = t.dim();
  if (rank < channel_dims + 2 || t.stride(channel_dims) != 1) return false;
  const Dims order = order_of(rank, channel_dims);
  Size reach = 1;  // Elements that the dims so far span.
  bool places = false;
  for (int i = rank - 1; i >= 0; --i) {
    const int d = static_cast<int>(order[i]);
    const bool channel = d >= 1 && d <= channel_dims;
    if (channel && t.size(d) < 2) return false;
    if (t.size(d) == 1) continue;
    if (t.stride(d) < reach) return false;
    reach = t.stride(d) * t.size(d);
    places |= !channel && d != 0;
  }
  return places;
}

// Whether `t` is [N, groups, channels, ...] with both dims of channels
// innermost, as in networks with several branches in one convolution.
bool is_split(const Tensor& t) {
  return t.dim() >= kLeastSplitRank && t.numel() > 0 && lies_so(t, 2);
}

// Whether `x` is a view [N, C, 1, ...] of a node [N, 1, ..., C]. Its strides
// cannot tell, since dims of size 1 have none that matter.
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

// The operand permuted to memory order. If `x` has the result's shape but
// another order, it is copied; the copy becomes part of this call's loop, or is
// the copy that a convolution of `x` needs anyway.
Value operand_of(GraphBuilder& b, const Value& x, const Dims& result,
                 int channel_dims) {
  const Value ordered =
      operand_in_order(b, x, order_of(result.size(), channel_dims));
  if (!x.is_proxy() || val_of(x).sizes() != result ||
      lies_so(val_of(x), channel_dims) || views_memory_order(x))
    return ordered;
  return b.call(materialize_op(), {ordered});
}

bool is_tensor(const Value& operand) {
  return operand.is_proxy() && operand.as_proxy()->val().is_tensor();
}

// Whether most operands of the result's shape have channels last. A draw means
// yes for images (more than three dims), because convolutions read that order,
// and no for rows of tokens.
bool prefers_channels_last(const ValueList& operands, const Dims& result) {
  int last = 0, plain = 0;
  for (const Value& operand : operands) {
    if (!is_tensor(operand)) continue;
    const Tensor t = val_of(operand);
    if (t.sizes() != result) continue;
    is_channels_last(t) || views_memory_order(operand) ? ++last : ++plain;
  }
  return last > plain || (last > 0 && last == plain && result.size() > 3);
}

// Whether there are operands of the result's shape, and is_split holds for all.
bool all_split(const ValueList& operands, const Dims& result) {
  bool split = false;
  for (const Value& operand : operands) {
    if (!is_tensor(operand) || val_of(operand).sizes() != result) continue;
    if (!is_split(val_of(operand))) return false;
    split = true;
  }
  return split;
}

Value elementwise(GraphBuilder& b, const ops::Op& op, const ValueList& args) {
  if (&op == &materialize_op()) return {};
  Dims result;
  for (const Value& arg : args)
    if (is_tensor(arg))
      result = result.empty() ? val_of(arg).sizes()
                              : broadcast_shapes(result, val_of(arg).sizes());
  if (reads_position(op, args)) return {};
  const int channel_dims = prefers_channels_last(args, result) ? 1
                           : all_split(args, result)           ? 2
                                                               : 0;
  if (channel_dims == 0) return {};
  ValueList ordered;
  for (const Value& arg : args)
    ordered.push_back(operand_of(b, arg, result, channel_dims));
  return in_logical_order(b, b.call_in_memory_order(op, std::move(ordered)),
                          order_of(result.size(), channel_dims));
}

Value reduction(GraphBuilder& b, const ops::Op& op, const ValueList& args) {
  const int at = op.index_of("dim"), keep = op.index_of("keepdim");
  if (at < 0 || keep < 0 || !args[0].is_proxy()) return {};
  const Tensor t = val_of(args[0]);
  const Value& dim = args[static_cast<size_t>(at)];
  if (dim.is_none() || !args[keep].is_bool()) return {};
  const int channel_dims = is_channels_last(t) ? 1 : is_split(t) ? 2 : 0;
  const Dims dims = dim.is_sequence() ? dim.as_dims() : Dims{dim.as_int()};
  if (channel_dims == 0 || dims.empty()) return {};
  const int rank = t.dim();
  const Dims order = order_of(rank, channel_dims);
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  Dims places, kept;
  for (Size d : dims) {
    reduced[static_cast<size_t>(wrap_dim(d, rank))] = true;
    places.push_back(place_in(order, wrap_dim(d, rank)));
  }
  // With some dims gone the rest lie in memory order.
  for (Size d : order)
    if (args[keep].as_bool() || !reduced[static_cast<size_t>(d)])
      kept.push_back(d);
  ValueList ordered = args;
  ordered[0] = operand_in_order(b, args[0], order);
  ordered[at] = dim.is_sequence() ? Value(places) : Value(places[0]);
  return in_logical_order(b, b.call_in_memory_order(op, ordered), kept);
}

Value concatenation(GraphBuilder& b, const ops::Op& op, const ValueList& args) {
  const Dims result = ops::infer({op, meta_of(args)}).as_tensor().sizes();
  const int rank = result.size();
  int last = 0, plain = 0;
  ValueList parts;
  for (const Value& part : args[0].as_sequence()) {
    if (!part.is_proxy()) return {};
    const Tensor t = val_of(part);
    if (t.dim() != rank) continue;  // torch skips old-style empty tensors.
    parts.push_back(part);
    if (b.is_constant(part)) continue;  // Is written in any order.
    is_channels_last(t) ? ++last : ++plain;
  }
  if (last == 0 || (rank < 4 && last < plain)) return {};
  for (Value& part : parts) part = channels_to_back(b, part);
  const Size dim =
      place_in(order_of(rank, 1), wrap_dim(args[1].as_int(), rank));
  return channels_to_front(
      b, b.call_in_memory_order(op, {Value::list(std::move(parts)), dim}));
}

}  // namespace

bool is_channels_last(const Tensor& t) { return lies_so(t, 1); }

Value channels_to_back(GraphBuilder& b, const Value& x) {
  return operand_in_order(b, x, order_of(val_of(x).dim(), 1));
}

Value channels_to_front(GraphBuilder& b, const Value& x) {
  return in_logical_order(b, x, order_of(val_of(x).dim(), 1));
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
