// Ops that read or write elements at places that other tensors hold.
#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {
namespace {

// Places counted from the front, of the dim's size.
Value from_front(const Call& call, const Value& places, const Value& size) {
  const Value wide = cast(call, places, DType::i64);
  if (const Tensor* const known = call.recorder().constant_of(wide)) {
    bool negative = false;
    for (const int64_t place : known->to_ints()) negative |= place < 0;
    if (!negative) return wide;
  }
  return where(wide < 0, wide + size, wide);
}

Results gather_of(Call& call) {
  const int64_t axis = call.wrap(call.integer("axis", 0), call.rank(0));
  const Operand& places = call.operand(1);
  if (call.rank(1) == 0) {
    if (const auto known = call.known_ints(1))
      return select(call[0], axis, (*known)[0]);
    if (places.numbers) return select(call[0], axis, places.numbers->items[0]);
  }
  return index_dim(call[0], axis, cast(call, call[1], DType::i64));
}

Results gather_elements(Call& call) {
  const int64_t axis = call.wrap(call.integer("axis", 0), call.rank(0));
  return gather(call[0], axis, from_front(call, call[1], call.size(0, axis)));
}

// Index tensors from the last dim of `indices`, for x[..., i, j] behind
// `batch_dims` dims that both share.
Value index_lists(const Call& call, int64_t batch_dims) {
  const int64_t rank = call.rank(1);
  const Value count = call.size(1, -1);
  if (!count.is_int()) call.fail("indices: the last dim varies");
  const Value indices = cast(call, call[1], DType::i64);
  ValueList lists;
  if (batch_dims < 0 || batch_dims >= rank)
    call.fail("attribute batch_dims: expected 0 to " +
              std::to_string(rank - 1) + ", got " + std::to_string(batch_dims));
  for (int64_t d = 0; d < batch_dims; ++d)
    lists.push_back(along(call, line(call.size(1, d)), d, rank - 1));
  for (int64_t i = 0; i < count.as_int(); ++i)
    lists.push_back(select(indices, -1, i));
  return Value::list(lists);
}

Results gather_nd(Call& call) {
  const Value lists = index_lists(call, call.integer("batch_dims", 0));
  return index(call[0], lists);
}

const char* reduce_name(const Call& call, const std::string& reduction) {
  if (reduction == "add") return "sum";
  if (reduction == "mul") return "prod";
  if (reduction == "max") return "amax";
  if (reduction == "min") return "amin";
  call.fail("reduction: \"" + reduction + "\" is unknown");
}

Value scattered(const Call& call, const Value& x, int64_t axis,
                const Value& places, const Value& updates) {
  const std::string reduction = call.text("reduction", "none");
  if (reduction == "none") return scatter(x, axis, places, updates);
  return function("torch.scatter_reduce",
                  {x, axis, places, updates, reduce_name(call, reduction)});
}

Results scatter_elements(Call& call) {
  const int64_t axis = call.wrap(call.integer("axis", 0), call.rank(0));
  return scattered(call, call[0], axis,
                   from_front(call, call[1], call.size(0, axis)), call[2]);
}

// Rows of what the index tuples name, of a matrix of all of them.
Value scatter_rows(const Call& call, int64_t count) {
  const SizeList sizes = call.sizes(0);
  const Value indices = cast(call, call[1], DType::i64);
  Value rows = 1, places = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Value& size = sizes[static_cast<size_t>(i)];
    rows = rows * size;
    places = places * size + from_front(call, select(indices, -1, i), size);
  }
  // Each size is told: there may be no elements, or nothing to write.
  Value width = 1;
  for (auto i = static_cast<size_t>(count); i < sizes.size(); ++i)
    width = width * sizes[i];
  const Value x = reshape(call[0], Value::list({rows, width}));
  const Value flat = reshape(places, Value::list({-1, 1}));
  const Value updates = reshape(
      call[2],
      Value::list({function("torch.ops.aten.sym_size.int", {flat, 0}), width}));
  const Value scattered_rows =
      scattered(call, x, 0, expand(flat, Value::list({-1, width})), updates);
  return reshape(scattered_rows, list_of(sizes));
}

Results scatter_nd(Call& call) {
  const std::string reduction = call.text("reduction", "none");
  if (reduction != "none" && reduction != "add") {
    const Value count = call.size(1, -1);
    if (!count.is_int()) call.fail("indices: the last dim varies");
    return scatter_rows(call, count.as_int());
  }
  return function("torch.index_put",
                  {call[0], index_lists(call, 0), call[2], reduction == "add"});
}

Results compress(Call& call) {
  const Value found = call.recorder().record_data_sized(
      "torch.nonzero", {call[1]}, Tensor::meta({64, 1}, DType::i64));
  const Value places = select(found, 1, 0);
  if (!call.has_attribute("axis"))
    return index_select(flatten(call[0]), 0, places);
  return index_select(call[0], call.integer("axis"), places);
}

Results non_zero(Call& call) {
  const Value found = call.recorder().record_data_sized(
      "torch.nonzero", {call[0]}, Tensor::meta({64, call.rank(0)}, DType::i64));
  return permute(found, {1, 0});
}

constexpr OpRow kIndexingOps[] = {
    {.op = "Compress", .since = 9, .run = compress},
    {.op = "Gather", .run = gather_of},
    {.op = "GatherElements", .since = 11, .run = gather_elements},
    {.op = "GatherND", .since = 11, .run = gather_nd},
    {.op = "NonZero", .since = 9, .run = non_zero},
    {.op = "Scatter", .since = 9, .run = scatter_elements},
    {.op = "ScatterElements", .since = 11, .run = scatter_elements},
    {.op = "ScatterND", .since = 11, .run = scatter_nd},
};

}  // namespace

std::span<const OpRow> indexing_rows() { return kIndexingOps; }

}  // namespace fxjit::onnx
