// Picking by index tensors becomes picking whole rows of a matrix, or one
// element for each index, at places counted through the tensor's memory order.
#include "src/passes/channels_last.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/lowering/lowerings.h"

namespace fxjit::passes {
namespace {

// Tensors that pick along adjacent dims. Seen through them the tensor is
// [outer, picked, inner].
struct Pick {
  int first = 0;       // The first of the dims picked from.
  ValueList indices;   // One per dim, integers.
  bool wraps = false;  // Negative ones count from the end.
};

bool is_index(const Value& value) {
  if (!value.is_proxy()) return false;
  const DType dtype = val_of(value).dtype();
  return dtype == DType::i64 || dtype == DType::i32;
}

Value as_long(GraphBuilder& b, const Value& index) {
  return val_of(index).dtype() == DType::i64
             ? index
             : call(b, "cast", {index, DType::i64});
}

// Index `index` of a dim of this size, and -1 for what lies outside of it.
Value checked(GraphBuilder& b, const Value& index, Size size, bool wraps) {
  Value at = as_long(b, index);
  if (wraps)
    at = call(b, "where",
              {call(b, "lt", {at, 0}), call(b, "add", {at, size}), at});
  const Value inside = call(
      b, "logical_and", {call(b, "ge", {at, 0}), call(b, "lt", {at, size})});
  return call(b, "where", {inside, at, -1});
}

// base * size + next where both lie inside, else -1.
Value counted_on(GraphBuilder& b, const Value& base, const Value& next,
                 Size size) {
  const Value inside = call(
      b, "logical_and", {call(b, "ge", {base, 0}), call(b, "ge", {next, 0})});
  const Value place = call(b, "add", {call(b, "mul", {base, size}), next});
  return call(b, "where", {inside, place, -1});
}

Value counting(GraphBuilder& b, Size size) {
  if (!size.is_number()) return call(b, "arange", {size});
  const Tensor places = Tensor::empty({size}, DType::i64);
  for (int64_t i = 0; i < size; ++i) places.data_as<int64_t>()[i] = i;
  return b.constant(places, true);
}

// The elements of `input` that `pick` names, [outer..., indices..., inner...].
Value picked(GraphBuilder& b, const Value& input, const Pick& pick) {
  const Dims sizes = val_of(input).sizes();
  const int last = pick.first + static_cast<int>(pick.indices.size());
  Size outer = 1, count = 1, inner = 1;
  for (int d = 0; d < sizes.size(); ++d)
    (d < pick.first ? outer : d < last ? count : inner) *= sizes[d];
  Value place;
  for (size_t k = 0; k < pick.indices.size(); ++k) {
    const Size size = sizes[pick.first + static_cast<int>(k)];
    const Value next = checked(b, pick.indices[k], size, pick.wraps);
    place = k == 0 ? next : counted_on(b, place, next, size);
  }
  const Dims shape = val_of(place).sizes();
  Dims result(sizes.span().subspan(0, static_cast<size_t>(pick.first)));
  for (Size size : shape) result.push_back(size);
  for (int d = last; d < sizes.size(); ++d) result.push_back(sizes[d]);
  place = call(b, "reshape", {place, Dims{1, numel(shape)}});
  if (inner == 1) {
    const Value lines = call(b, "reshape", {input, Dims{outer, count}});
    place = call(b, "expand", {place, Dims{outer, numel(shape)}});
    return call(b, "reshape", {call(b, "gather", {lines, 1, place}), result});
  }
  if (outer > 1) {
    const Value starts = call(b, "unsqueeze", {counting(b, outer), 1});
    place = counted_on(b, starts, place, count);
  }
  const Value rows = call(b, "reshape", {input, Dims{outer * count, inner}});
  return call(b, "reshape", {call(b, "embedding", {place, rows}), result});
}

// Fewest elements to one place of a dim for which places are copied as runs.
constexpr int64_t kLeastRun = 8;

// How often an index names each place of a dim, all in order; 0 for others.
Size repeats(const GraphBuilder& b, const Value& index, Size size) {
  const auto known = b.constant_of(index);
  if (!known || size == 0 || val_of(index).numel() % size != 0) return 0;
  const Tensor places = known->to(DType::i64).contiguous();
  const Size times = places.numel() / size;
  for (int64_t i = 0; i < places.numel(); ++i)
    if (places.data_as<int64_t>()[i] != i / times) return 0;
  return times;
}

// Each place of a dim several times, by copies of the runs behind it: so images
// whose channels lie innermost keep that order when they are upsampled.
Value repeated(GraphBuilder& b, const Value& x, int dim, Size times) {
  Dims wide = val_of(x).sizes(), result = wide;
  result[dim] *= times;
  wide.insert(dim + 1, times);
  const Value apart = call(b, "unsqueeze", {x, dim + 1});
  return call(b, "reshape", {call(b, "expand", {apart, wide}), result});
}

Size run_behind(const Dims& sizes, int dim) {
  Size run = 1;
  for (int d = dim + 1; d < sizes.size(); ++d) run *= sizes[d];
  return run;
}

}  // namespace

Value lower_index_select(GraphBuilder& b, const ops::Op&,
                         const ValueList& args) {
  if (!args[0].is_proxy() || !is_index(args[2])) return {};
  const Tensor input = val_of(args[0]);
  if (input.dim() == 0 || val_of(args[2]).dim() != 1 || input.numel() == 0)
    return {};
  const int dim = wrap_dim(args[1].as_int(), input.dim());
  if (is_channels_last(input)) {
    const int at = dim == 1 ? input.dim() - 1 : std::max(0, dim - 1);
    return channels_to_front(
        b,
        call(b, "index_select", {channels_to_back(b, args[0]), at, args[2]}));
  }
  if (run_behind(input.sizes(), dim) >= kLeastRun)
    if (const Size times = repeats(b, args[2], input.sizes()[dim]); times > 1)
      return repeated(b, args[0], dim, times);
  // Rows of the first dim have code of their own.
  if (dim == 0 && input.dim() > 1) return {};
  return picked(b, args[0], {dim, {args[2]}, false});
}

// x[..., i, j, ...]: dims that are picked from but not side by side go in
// front, as their result does.
Value lower_index(GraphBuilder& b, const ops::Op&, const ValueList& args) {
  if (!args[0].is_proxy() || !args[1].is_sequence()) return {};
  const Tensor table = val_of(args[0]);
  Pick pick{0, {}, true};
  std::vector<int> dims, others;
  for (int d = 0; d < table.dim(); ++d) {
    const auto at = static_cast<size_t>(d);
    const Value index = at < args[1].size() ? args[1].at(at) : Value();
    if (!index.is_none() && !is_index(index)) return {};
    (index.is_none() ? others : dims).push_back(d);
    if (!index.is_none()) pick.indices.push_back(index);
  }
  if (dims.empty() || table.numel() == 0) return {};
  pick.first = dims.front();
  if (dims.back() - dims.front() + 1 == static_cast<int>(dims.size()))
    return picked(b, args[0], pick);
  Dims order;
  for (int d : dims) order.push_back(d);
  for (int d : others) order.push_back(d);
  pick.first = 0;
  return picked(b, call(b, "permute", {args[0], order}), pick);
}

// Places of int32 as the int64 that kernels read.
Value lower_gather(GraphBuilder& b, const ops::Op&, const ValueList& args) {
  if (!args[2].is_proxy() || val_of(args[2]).dtype() != DType::i32) return {};
  return call(b, "gather", {args[0], args[1], as_long(b, args[2])});
}

// A dim backwards is its places picked from the last to the first.
Value lower_flip(GraphBuilder& b, const ops::Op&, const ValueList& args) {
  if (!args[0].is_proxy() || !args[1].is_sequence()) return {};
  const Tensor input = val_of(args[0]);
  if (input.dim() == 0 || input.numel() == 0) return {};
  Value result = args[0];
  for (const Value& axis : args[1].as_sequence()) {
    const int dim = wrap_dim(axis.as_int(), input.dim());
    const Size size = input.sizes()[dim];
    const Tensor places = Tensor::empty({size}, DType::i64);
    for (int64_t i = 0; i < size; ++i)
      places.data_as<int64_t>()[i] = size - 1 - i;
    result = call(b, "index_select", {result, dim, b.constant(places, true)});
  }
  return result;
}

}  // namespace fxjit::passes
