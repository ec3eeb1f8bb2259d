// Constants, ranges and what shapes are asked for.
#include <cmath>

#include "src/import/onnx/ops/families.h"
#include "src/import/onnx/tensors.h"
#include "src/import/onnx/texts.h"

namespace fxjit::onnx {
namespace {

template <typename T>
Tensor list_tensor(const std::vector<T>& values, DType dtype) {
  const Tensor wide =
      Tensor::empty({static_cast<int64_t>(values.size())}, DType::f64);
  for (size_t i = 0; i < values.size(); ++i)
    wide.data_as<double>()[i] = static_cast<double>(values[i]);
  return wide.to(dtype);
}

Results constant(Call& call) {
  Recorder& recorder = call.recorder();
  const auto name = call.node().outputs.empty() ? std::string_view("constant")
                                                : call.node().outputs[0];
  if (call.tensor_texts("value"))
    return text_tensor(recorder,
                       read_tensor_info(*call.node().find("value")->tensor));
  if (const auto tensor = call.tensor("value"))
    return recorder.constant(*tensor, name);
  if (call.has_attribute("value_int"))
    return recorder.constant(
        Tensor::from(std::vector<int64_t>{call.integer("value_int")}, {}),
        name);
  if (call.has_attribute("value_float"))
    return recorder.constant(Tensor::full({}, call.real("value_float", 0)),
                             name);
  if (const auto values = call.integers("value_ints"))
    return recorder.constant(
        Tensor::from(*values, {static_cast<int64_t>(values->size())}), name);
  if (const auto values = call.reals("value_floats"))
    return recorder.constant(list_tensor(*values, DType::f32), name);
  call.fail(
      "expected one of the attributes value, value_int, value_ints, "
      "value_float, value_floats");
}

// One element that all places show.
Results constant_of_shape(Call& call) {
  const Tensor value = call.tensor("value").value_or(Tensor::zeros({1}));
  if (value.numel() != 1) call.fail("attribute value: expected one element");
  if (const auto shape = call.known_ints(0)) {
    if (shape->size() > static_cast<size_t>(kMaxRank))
      call.fail("expected at most " + std::to_string(kMaxRank) + " dims");
    for (const int64_t size : *shape)
      if (size < 0) call.fail("size " + std::to_string(size));
    const Dims sizes(*shape);
    (void)numel(sizes);  // UserError where it is too large.
    return call.recorder().constant(
        value.as_strided(sizes, Dims(sizes.size(), 0), value.offset()),
        call.node().outputs.empty() ? "" : call.node().outputs[0]);
  }
  const Value number = is_floating(value.dtype()) ? Value(value.item())
                                                  : Value(value.to_ints()[0]);
  return full(
      list_of(call.ints(0)),
      value.dtype() == DType::boolean ? Value(value.item() != 0) : number,
      value.dtype());
}

int64_t place_in(int64_t place, int64_t rank) {
  return std::clamp<int64_t>(place < 0 ? place + rank : place, 0, rank);
}

Results shape_of(Call& call) {
  const SizeList sizes = call.sizes(0);
  const auto rank = static_cast<int64_t>(sizes.size());
  const int64_t start = place_in(call.integer("start", 0), rank);
  const int64_t end = place_in(call.integer("end", rank), rank);
  Numbers numbers;
  for (int64_t d = start; d < end; ++d)
    numbers.items.push_back(sizes[static_cast<size_t>(d)]);
  return numbers;
}

Results size_of(Call& call) {
  Value product = 1;
  for (const Value& size : call.sizes(0)) product = product * size;
  return Numbers{{product}, true, DType::i64};
}

// Larger ones are made when the model runs.
constexpr double kMostAtOnce = 1 << 17;

// The limit; the start where no step leads from there to the limit, which is
// none of torch's ranges.
Value reached_limit(const Value& start, const Value& limit,
                    const Value& delta) {
  const Value none = (limit - start) * delta < 0;
  if (none.is_bool()) return none.as_bool() ? start : limit;
  return none * start + (1 - none) * limit;
}

bool has_numbers_of_data(const Call& call) {
  for (size_t i = 0; i < 3; ++i)
    if (!call.operand(i).numbers && !call.known_int(i) &&
        !Recorder::follows_from_sizes(call[i]))
      return true;
  return false;
}

// A range of integers that tensors hold. What depends on data is one number,
// that of the elements; the first one and the step stay tensors, so that
// programs serve all of them.
Results counted_range(Call& call, DType dtype) {
  const auto wide = [&](size_t i) {
    return cast(call, reshape(call[i], Value::list({})), DType::i64);
  };
  // Numbers of data have examples of 1 wherever they are read.
  const auto example = [&](size_t i) { return call.known_int(i).value_or(1); };
  const int64_t span = example(1) - example(0), each = example(2);
  if (each == 0) call.fail("delta: 0");
  const Value start = wide(0);
  const bool single = call.known_int(2) == 1;
  const Value count =
      single ? wide(1) - start
             : -function("torch.floor_divide", {start - wide(1), wide(2)});
  Value made =
      held(call, line(call.item_of(clamp_min(count, 0),
                                   std::max<int64_t>(span / each, 0))));
  if (!single) made = made * wide(2);
  return cast(call, made + start, dtype);
}

Results range(Call& call) {
  const DType dtype = call.dtype(0);
  const auto start = call.known_float(0), limit = call.known_float(1),
             delta = call.known_float(2);
  if (start && limit && delta) {
    const double count = std::ceil((*limit - *start) / *delta);
    if (!(count <= 1e15)) call.fail("more elements than memory holds");
    if (count > kMostAtOnce)
      return call.recorder().record_data_sized(
          "torch.arange", {*start, *limit, *delta},
          Tensor::meta({static_cast<int64_t>(count)}, dtype));
  }
  if (!is_floating(dtype) && has_numbers_of_data(call))
    return counted_range(call, dtype);
  const Value begin = call.scalar(0), step = call.scalar(2);
  const Value end = reached_limit(begin, call.scalar(1), step);
  const Value made = held(call, arange(begin, end, step, dtype));
  if (!Recorder::example(made).is_none()) return made;
  return call.recorder().assume(made, Tensor::meta({64}, dtype));
}

// The places of a new dim at which `indices` point.
Results one_hot(Call& call) {
  const Value depth = call.scalar_int(1);
  const int64_t rank = call.rank(0) + 1;
  const int64_t axis = call.wrap(call.integer("axis", -1), rank);
  const Value places = cast(call, call[0], DType::i64);
  // Places of uint64 that are negative here are beyond any depth.
  const Value front = call.unsigned_bits(0) == 64
                          ? places
                          : where(places < 0, places + depth, places);
  const Value numbers = along(call, line(depth), axis, rank);
  return where(unsqueeze(front, axis) == numbers, select(call[2], 0, 1),
               select(call[2], 0, 0));
}

Results eye_like(Call& call) {
  const DType dtype =
      call.has_attribute("dtype") ? named_type(call, "dtype") : call.dtype(0);
  const Value rows = unsqueeze(line(call.size(0, 0)), 1) + call.integer("k", 0);
  const Value made =
      cast(call, rows == unsqueeze(line(call.size(0, 1)), 0), dtype);
  return held(call, made);
}

Results trilu(Call& call) {
  const Value k = call.has(1) ? call.scalar_int(1) : Value(0);
  return call.flag("upper", true) ? triu(call[0], k) : tril(call[0], k);
}

constexpr OpRow kCreationOps[] = {
    {.op = "Constant", .run = constant},
    {.op = "ConstantOfShape", .since = 9, .run = constant_of_shape},
    {.op = "EyeLike", .since = 9, .run = eye_like},
    {.op = "OneHot", .since = 9, .run = one_hot},
    {.op = "Range", .since = 11, .run = range},
    {.op = "Shape", .run = shape_of},
    {.op = "Size", .run = size_of},
    {.op = "Trilu", .since = 14, .run = trilu},
};

}  // namespace

std::span<const OpRow> creation_rows() { return kCreationOps; }

}  // namespace fxjit::onnx
