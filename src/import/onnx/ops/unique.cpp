// Unique: equal elements once.
#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {
namespace {

// Values, the places of their first appearance, for each element the place of
// its value, and how often each is there.
Results unique_of(Call& call) {
  const bool has_axis = call.has_attribute("axis");
  const int64_t axis =
      has_axis ? call.wrap(call.integer("axis"), call.rank(0)) : 0;
  const Value x = has_axis ? call[0] : flatten(call[0]);
  const Value example = Recorder::example(x);
  const Tensor places = Tensor::meta({2}, DType::i64);
  const Value dim = has_axis ? Value(axis) : Value();
  const Value found = call.recorder().record_data_sized(
      "torch.functional.unique", {x, true, true, true, dim},
      example.is_tensor() ? Value::tuple({example, places, places}) : Value());
  Value values = part_of(found, 0), counts = part_of(found, 2);
  Value inverse = flatten(part_of(found, 1));
  const Value count = function("torch.ops.aten.sym_size.int", {counts, 0});
  const Value elements = function("torch.ops.aten.sym_size.int", {inverse, 0});
  // The smallest place of each value.
  const Value none = function("torch.full", {Value::list({count}), elements},
                              {{"dtype", DType::i64}});
  Value first = function("torch.scatter_reduce",
                         {none, 0, inverse, line(elements), "amin"});
  if (!call.flag("sorted", true)) {
    const Value order = function("torch.argsort", {first});
    values = index_select(values, axis, order);
    counts = index_select(counts, 0, order);
    first = index_select(first, 0, order);
    inverse = index_select(function("torch.argsort", {order}), 0, inverse);
  }
  return std::vector<Operand>{values, first, inverse, counts};
}

constexpr OpRow kUniqueOps[] = {
    {.op = "Unique", .since = 11, .run = unique_of},
};

}  // namespace

std::span<const OpRow> unique_rows() { return kUniqueOps; }

}  // namespace fxjit::onnx
