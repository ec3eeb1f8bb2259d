// Images whose channels are seen as several dims, [N, groups, channels, ...]
// over memory [N, ..., groups, channels]: elementwise calls and reductions run
// in memory order, as those of plain channels-last images do.
#include "src/passes/split_channels.h"

#include <algorithm>

#include "src/passes/lowering/lower.h"
#include "src/tensor/visit.h"

namespace fxjit::passes {
namespace {

// Fewer dims are as often tokens and heads, whose order products want.
constexpr int kLeastRank = 5;
constexpr int kChannelDims = 2;

// Logical dims in order of memory: 0, 3, ..., 1, 2.
Dims memory_order(int rank) {
  Dims order{0};
  for (int d = 1 + kChannelDims; d < rank; ++d) order.push_back(d);
  for (int d = 1; d <= kChannelDims; ++d) order.push_back(d);
  return order;
}

bool is_split(const Tensor& t) {
  const int rank = t.dim();
  if (rank < kLeastRank || t.numel() == 0 || t.stride(kChannelDims) != 1)
    return false;
  const Dims order = memory_order(rank);
  int64_t reach = 1;
  bool places = false;
  for (int i = rank - 1; i >= 0; --i) {
    const int d = static_cast<int>(order[i]);
    const bool channel = d >= 1 && d <= kChannelDims;
    if (channel && t.size(d) < 2) return false;
    if (t.size(d) == 1) continue;
    if (t.stride(d) < reach) return false;
    reach = t.stride(d) * t.size(d);
    places |= !channel && d != 0;
  }
  return places;
}

Value ordered(GraphBuilder& b, const Value& x, int rank) {
  if (!x.is_proxy() || val_of(x).dim() == 0) return x;
  Value whole = x;
  if (const Tensor t = val_of(x); t.dim() < rank) {
    Dims sizes(rank - t.dim(), 1);
    for (int64_t size : t.sizes()) sizes.push_back(size);
    whole = call(b, "reshape", {x, sizes});
  }
  return call(b, "permute", {whole, memory_order(rank)});
}

Value in_logical_order(GraphBuilder& b, const Value& x, const Dims& memory) {
  Dims sorted = memory, order;
  std::sort(sorted.begin(), sorted.end());
  for (int64_t d : sorted)
    order.push_back(std::find(memory.begin(), memory.end(), d) -
                    memory.begin());
  return call(b, "permute", {x, order});
}

}  // namespace

Value elementwise_of_split(GraphBuilder& b, const ops::Op& op,
                           const ValueList& args) {
  Dims result;
  for (const Value& arg : args)
    if (arg.is_proxy() && arg.as_proxy()->val().is_tensor())
      result = result.empty() ? val_of(arg).sizes()
                              : broadcast_shapes(result, val_of(arg).sizes());
  bool split = false;
  for (const Value& arg : args) {
    if (!arg.is_proxy() || !arg.as_proxy()->val().is_tensor() ||
        val_of(arg).sizes() != result)
      continue;
    if (!is_split(val_of(arg))) return {};
    split = true;
  }
  if (!split) return {};
  ValueList operands;
  for (const Value& arg : args)
    operands.push_back(ordered(b, arg, result.size()));
  return in_logical_order(b, b.call_in_memory_order(op, std::move(operands)),
                          memory_order(result.size()));
}

Value reduction_of_split(GraphBuilder& b, const ops::Op& op,
                         const ValueList& args, const Dims& dims, size_t at,
                         bool keep) {
  const Tensor t = val_of(args[0]);
  if (!is_split(t)) return {};
  const int rank = t.dim();
  const Dims order = memory_order(rank);
  Dims places, kept;
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  for (int64_t d : dims) {
    reduced[static_cast<size_t>(wrap_dim(d, rank))] = true;
    places.push_back(std::find(order.begin(), order.end(), wrap_dim(d, rank)) -
                     order.begin());
  }
  for (int64_t d : order)
    if (keep || !reduced[static_cast<size_t>(d)]) kept.push_back(d);
  ValueList operands = args;
  operands[0] = ordered(b, args[0], rank);
  operands[at] = args[at].is_sequence() ? Value(places) : Value(places[0]);
  return in_logical_order(b, b.call_in_memory_order(op, operands), kept);
}

}  // namespace fxjit::passes
