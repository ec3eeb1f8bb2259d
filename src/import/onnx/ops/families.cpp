#include "src/import/onnx/ops/families.h"

#include <algorithm>
#include <cmath>

#include "src/import/onnx/tensors.h"

namespace fxjit::onnx {

std::vector<std::span<const OpRow>> families() {
  return {
#define FXJIT_FAMILY(name) name##_rows(),
#include "src/import/onnx/ops/families.inc"
#undef FXJIT_FAMILY
  };
}

Value cast(const Call& call, const Value& tensor, DType dtype) {
  const Value example = Recorder::example(tensor);
  if (example.is_tensor() && call.dtype_of(tensor) == dtype) return tensor;
  return function("torch.ops.aten.to.dtype", {tensor, dtype});
}

Value held(const Call& call, const Value& value) {
  return value.is_tensor() ? call.recorder().constant(value.as_tensor())
                           : value;
}

std::optional<Value> plain_number(const Call& call, const Value& constant,
                                  const Value& other) {
  const Tensor* const one = call.recorder().constant_of(constant);
  const Value example = Recorder::example(other);
  if (!one || one->numel() != 1 || !is_floating(one->dtype()) ||
      !example.is_tensor() || call.recorder().constant_of(other))
    return std::nullopt;
  const Tensor& tensor = example.as_tensor();
  const double number = one->item();
  if (tensor.dtype() != one->dtype() || tensor.dim() < one->dim() ||
      !std::isfinite(number))
    return std::nullopt;
  return number;
}

Value at_least_0(const Value& number) {
  if (number.is_int()) return std::max<int64_t>(number.as_int(), 0);
  return number * (number > 0);
}

Value part_of(const Value& results, size_t i) {
  if (results.is_sequence()) return results.at(i);
  return getitem(results, i);
}

std::vector<int64_t> per_dim(const Call& call, std::string_view attribute,
                             size_t count, int64_t otherwise) {
  auto given = call.integers(attribute);
  if (!given) return std::vector<int64_t>(count, otherwise);
  if (given->size() != count)
    call.fail("attribute " + std::string(attribute) + ": expected " +
              std::to_string(count) + " numbers, got " +
              std::to_string(given->size()));
  return *given;
}

Value line(const Value& count) { return arange(count, None, None, DType::i64); }

Value along(const Call& call, const Value& line, int64_t dim, int64_t rank) {
  if (dim < 0 || dim >= rank)
    call.fail("axis " + std::to_string(dim) + " is not one of " +
              std::to_string(rank) + " dims");
  ValueList shape(static_cast<size_t>(rank), 1);
  shape[static_cast<size_t>(dim)] = -1;
  return reshape(line, Value::list(std::move(shape)));
}

Value index_dim(const Value& x, int64_t axis, const Value& places) {
  ValueList indices(static_cast<size_t>(axis));
  indices.push_back(places);
  return index(x, Value::list(std::move(indices)));
}

namespace {

// `whole` parts of `each` elements, or what is left where that varies.
Value quotient_of(const Call& call, const Value& whole, int64_t each) {
  if (!whole.is_int()) return -1;
  if (each < 1 || whole.as_int() % each != 0)
    call.fail("expected a multiple of " + std::to_string(each) + ", got " +
              std::to_string(whole.as_int()));
  return whole.as_int() / each;
}

Value with_heads_first(const Value& x) {
  return permute(x, Value::list({0, 2, 1, 3}));
}

}  // namespace

Value in_heads(const Call& call, const Value& x, int64_t heads) {
  const SizeList sizes = call.sizes_of(x);
  return with_heads_first(
      reshape(x, Value::list({sizes[0], sizes[1], heads,
                              quotient_of(call, sizes[2], heads)})));
}

Value in_heads_of_size(const Call& call, const Value& x, int64_t size) {
  const SizeList sizes = call.sizes_of(x);
  return with_heads_first(
      reshape(x, Value::list({sizes[0], sizes[1],
                              quotient_of(call, sizes[2], size), size})));
}

Value out_of_heads(const Call& call, const Value& x) {
  const SizeList sizes = call.sizes_of(x);
  const bool known = sizes[1].is_int() && sizes[3].is_int();
  return reshape(
      with_heads_first(x),
      Value::list(
          {sizes[0], sizes[2],
           known ? Value(sizes[1].as_int() * sizes[3].as_int()) : Value(-1)}));
}

Value pad_list(const std::vector<Value>& begin, const std::vector<Value>& end) {
  ValueList list;
  for (size_t d = begin.size(); d-- > 0;) {
    list.push_back(begin[d]);
    list.push_back(end[d]);
  }
  return Value::list(std::move(list));
}

std::vector<int64_t> dims_from(int64_t first, int64_t rank) {
  std::vector<int64_t> dims;
  for (int64_t d = first; d < rank; ++d) dims.push_back(d);
  return dims;
}

DType named_type(const Call& call, std::string_view attribute) {
  const auto dtype = find_dtype(call.integer(attribute));
  if (!dtype) call.fail(std::string(attribute) + " is not supported");
  return *dtype;
}

std::optional<std::vector<Value>> axes_of(const Call& call, size_t input) {
  if (call.has(input)) return call.ints(input);
  if (const auto axes = call.integers("axes"))
    return std::vector<Value>(axes->begin(), axes->end());
  return std::nullopt;
}

}  // namespace fxjit::onnx
