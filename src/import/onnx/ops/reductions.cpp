// Reductions over dims, running sums and the places of extreme elements.
#include <limits>

#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {
namespace {

// The dims to reduce as torch takes them; nothing where the op changes nothing.
std::optional<Value> reduced_dims(const Call& call) {
  const auto axes = axes_of(call, 1);
  if (axes && !axes->empty()) return list_of(*axes);
  if (call.flag("noop_with_empty_axes", false)) return std::nullopt;
  return list_of(dims_from(0, call.rank(0)));
}

bool keeps_dims(const Call& call) { return call.flag("keepdims", true); }

using Reduce = Value (*)(const Call& call, const Value& x, const Value& dims);

Value sum_over(const Call& call, const Value& x, const Value& dims) {
  return sum(x, dims, keeps_dims(call), call.dtype(0));
}

Value mean_over(const Call& call, const Value& x, const Value& dims) {
  const DType dtype = call.dtype(0);
  if (is_floating(dtype)) return mean(x, dims, keeps_dims(call));
  return cast(call, mean(cast(call, x, DType::f64), dims, keeps_dims(call)),
              dtype);
}

// torch takes one dim of a product.
Value product_over(const Call& call, const Value& x, const Value& dims) {
  Value result = x;
  for (const Value& dim : dims.as_sequence())
    result = prod(result, dim, true, call.dtype(0));
  return keeps_dims(call) ? result : squeeze(result, dims);
}

bool has_elements(const Call& call) {
  for (const Value& size : call.sizes(0))
    if (!size.is_int() || size.as_int() == 0) return false;
  return true;
}

// The greatest number of the type, or the least; those of unsigned types that
// wider ones carry. uint64 comes turned, in the order of int64.
Value limit_of(const Call& call, bool greatest) {
  const DType type = call.dtype(0);
  const double infinity = std::numeric_limits<double>::infinity();
  if (is_floating(type)) return greatest ? infinity : -infinity;
  if (type == DType::boolean) return greatest;
  const int unsigned_bits = call.unsigned_bits(0);
  const bool has_sign = type != DType::u8 && unsigned_bits % 64 == 0;
  const int bits = unsigned_bits != 0 ? unsigned_bits
                                      : static_cast<int>(8 * dtype_size(type));
  const int64_t most =
      static_cast<int64_t>(~uint64_t{0} >> (64 - bits + has_sign));
  if (greatest) return most;
  return has_sign ? -most - 1 : int64_t{0};
}

template <bool kMax>
Value extreme_over(const Call& call, const Value& x, const Value& dims) {
  if (has_elements(call))
    return (kMax ? amax : amin)(x, dims, keeps_dims(call));
  return function(kMax ? "fxjit.amax_or" : "fxjit.amin_or",
                  {x, dims, keeps_dims(call), limit_of(call, !kMax)});
}

Value l1_over(const Call& call, const Value& x, const Value& dims) {
  return sum_over(call, abs(x), dims);
}

Value sum_square_over(const Call& call, const Value& x, const Value& dims) {
  return sum_over(call, x * x, dims);
}

Value l2_over(const Call& call, const Value& x, const Value& dims) {
  const Value squares = sum_square_over(call, x, dims);
  return cast(call, sqrt(squares), call.dtype(0));
}

Value log_sum_over(const Call& call, const Value& x, const Value& dims) {
  return cast(call, log(sum_over(call, x, dims)), call.dtype(0));
}

Value log_sum_exp_over(const Call& call, const Value& x, const Value& dims) {
  const Value real = is_floating(call.dtype(0)) ? x : cast(call, x, DType::f64);
  return cast(call, logsumexp(real, dims, keeps_dims(call)), call.dtype(0));
}

// A sum, mean, product or extreme over no dims leaves its input as it is.
template <Reduce kReduce>
Results reduce_or_keep(Call& call) {
  const auto dims = reduced_dims(call);
  if (!dims) return call.operand(0);
  return kReduce(call, call[0], *dims);
}

// The others over no dims apply their function to each element, as they do
// over a new dim.
template <Reduce kReduce>
Results reduce_elements(Call& call) {
  if (const auto dims = reduced_dims(call))
    return kReduce(call, call[0], *dims);
  const Value x = unsqueeze(call[0], 0);
  const Value result = kReduce(call, x, Value::list({0}));
  return keeps_dims(call) ? squeeze(result, 0) : result;
}

template <Value (*kFind)(const Arg&, const Arg&, const Arg&)>
Results place_of(Call& call) {
  const int64_t axis = call.wrap(call.integer("axis", 0), call.rank(0));
  if (!call.flag("select_last_index", false))
    return kFind(call[0], axis, keeps_dims(call));
  const Value turned = flip(call[0], Value::list({axis}));
  return call.size(0, axis) - 1 - kFind(turned, axis, keeps_dims(call));
}

// The elements before each one: the first is `start`, the last one is dropped.
// There may be none.
Value shifted(const Call& call, const Value& x, const Value& axis,
              double start) {
  const Value size = function("torch.ops.aten.sym_size.int", {x, axis});
  const Value line = sum(x, Value::list({axis}), true);
  const Value head = cast(call, full_like(line, start), call.dtype(0));
  return narrow(cat(Value::list({head, x}), axis), axis, 0, size);
}

template <bool kProduct>
Results running(Call& call) {
  const Value axis = call.scalar_int(1);
  const Value dims = Value::list({axis});
  const bool reverse = call.flag("reverse", false);
  Value x = reverse ? flip(call[0], dims) : call[0];
  if (call.flag("exclusive", false))
    x = shifted(call, x, axis, kProduct ? 1 : 0);
  Value result =
      function(kProduct ? "torch.cumprod" : "torch.cumsum", {x, axis});
  result = cast(call, result, call.dtype(0));
  return reverse ? flip(result, dims) : result;
}

Results top_k(Call& call) {
  const Value k =
      call.opset() >= 10 ? call.scalar_int(1) : Value(call.integer("k"));
  const Value found = function(
      "torch.topk", {call[0], k, call.integer("axis", -1),
                     call.flag("largest", true), call.flag("sorted", true)});
  return std::vector<Operand>{part_of(found, 0), part_of(found, 1)};
}

constexpr OpRow kReductionsOps[] = {
    {.op = "ArgMax", .run = place_of<argmax>},
    {.op = "ArgMin", .run = place_of<argmin>},
    {.op = "CumProd", .since = 26, .run = running<true>},
    {.op = "CumSum", .since = 11, .run = running<false>},
    {.op = "ReduceL1", .run = reduce_elements<l1_over>},
    {.op = "ReduceL2", .run = reduce_elements<l2_over>},
    {.op = "ReduceLogSum", .run = reduce_elements<log_sum_over>},
    {.op = "ReduceLogSumExp", .run = reduce_elements<log_sum_exp_over>},
    {.op = "ReduceMax", .run = reduce_or_keep<extreme_over<true>>},
    {.op = "ReduceMean", .run = reduce_or_keep<mean_over>},
    {.op = "ReduceMin", .run = reduce_or_keep<extreme_over<false>>},
    {.op = "ReduceProd", .run = reduce_or_keep<product_over>},
    {.op = "ReduceSum", .run = reduce_or_keep<sum_over>},
    {.op = "ReduceSumSquare", .run = reduce_elements<sum_square_over>},
    {.op = "TopK", .run = top_k},
};

}  // namespace

std::span<const OpRow> reduction_rows() { return kReductionsOps; }

}  // namespace fxjit::onnx
