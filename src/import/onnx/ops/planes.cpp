// Padding, and other ops that move elements of planes.
#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {
namespace {

namespace F = nn::functional;

struct Pads {
  std::vector<Value> begin, end;  // For each dim.
};

Pads read_pads(const Call& call) {
  const auto rank = static_cast<size_t>(call.rank(0));
  Pads pads{std::vector<Value>(rank, 0), std::vector<Value>(rank, 0)};
  std::vector<Value> given;
  if (call.opset() < 11) {
    const auto list = call.integers(call.opset() < 2 ? "paddings" : "pads");
    if (!list) call.fail("attribute pads is missing");
    given.assign(list->begin(), list->end());
  } else {
    given = call.ints(1);
  }
  std::vector<Value> axes;
  if (call.has(3)) {
    for (const Value& axis : call.ints(3))
      axes.push_back(axis.is_int()
                         ? Value(call.wrap(axis.as_int(), call.rank(0)))
                         : axis % call.rank(0));
  } else {
    for (size_t d = 0; d < rank; ++d) axes.emplace_back(d);
  }
  if (given.size() != 2 * axes.size())
    call.fail("pads: expected " + std::to_string(2 * axes.size()) +
              " numbers, got " + std::to_string(given.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].is_int()) {
      const auto dim = static_cast<size_t>(axes[i].as_int());
      pads.begin[dim] = given[i];
      pads.end[dim] = given[i + axes.size()];
      continue;
    }
    // Which dim it is is known when the model runs.
    for (size_t d = 0; d < rank; ++d) {
      const Value is_meant = axes[i] == d;
      pads.begin[d] = pads.begin[d] + is_meant * given[i];
      pads.end[d] = pads.end[d] + is_meant * given[i + axes.size()];
    }
  }
  return pads;
}

// The places that a mode shows beyond a dim's ends.
Value shown_places(const Call& call, const std::string& mode,
                   const Value& places, const Value& size) {
  if (mode == "edge") return clamp(places, 0, size - 1);
  if (mode == "wrap") return remainder(places, size);
  if (mode != "reflect") call.fail("mode: \"" + mode + "\" is unknown");
  // A dim of one element shows that one.
  const Value twice = 2 * (size - 1);
  const Value period = twice + (twice == 0);
  const Value turned = remainder(places, period);
  return minimum(turned, period - turned);
}

Value pad_constant(const Call& call, const Pads& pads) {
  Value value = 0;
  if (call.opset() < 11) value = call.real("value", 0);
  if (call.has(2)) value = call.scalar(2);
  return F::pad(call[0], pad_list(pads.begin, pads.end), "constant", value);
}

bool is_none(const Value& number) {
  return number.is_int() && number.as_int() == 0;
}

Value less(const Value& number, const Value& by) {
  return is_none(by) ? number : number - by;
}

Results pad_of(Call& call) {
  const Pads pads = read_pads(call);
  const std::string mode = call.text("mode", "constant");
  if (mode == "constant") return pad_constant(call, pads);
  Value y = call[0];
  for (size_t d = 0; d < pads.begin.size(); ++d) {
    if (is_none(pads.begin[d]) && is_none(pads.end[d])) continue;
    const auto dim = static_cast<int64_t>(d);
    // What negative padding takes away is gone before the rest is repeated.
    const Value first = at_least_0(0 - pads.begin[d]);
    const Value kept =
        less(less(call.size(0, dim), first), at_least_0(0 - pads.end[d]));
    const Value places =
        arange(0 - at_least_0(pads.begin[d]), kept + at_least_0(pads.end[d]),
               None, DType::i64);
    const Value shown = shown_places(call, mode, places, kept);
    y = index_select(y, dim, is_none(first) ? shown : shown + first);
  }
  return y;
}

// Elements before a sequence's end in the other order.
Results reverse_sequence(Call& call) {
  const int64_t rank = call.rank(0);
  const int64_t time = call.wrap(call.integer("time_axis", 0), rank);
  const int64_t batch = call.wrap(call.integer("batch_axis", 1), rank);
  const Value places =
      along(call, arange(0, call.size(0, time), None, DType::i64), time, rank);
  const Value lengths = along(call, call[1], batch, rank);
  const Value turned =
      where(gt(lengths, places), lengths - 1 - places, places + lengths * 0);
  return gather(call[0], time, expand(turned, list_of(call.sizes(0))));
}

// A window around the middle, of zeros where the input has nothing.
Results center_crop_pad(Call& call) {
  const std::vector<Value> shape = call.ints(1);
  const auto axes = call.integers("axes");
  if (axes ? axes->size() != shape.size()
           : static_cast<int>(shape.size()) != call.rank(0))
    call.fail("shape: expected a number for each axis");
  Value y = call[0];
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t dim =
        call.wrap(axes ? (*axes)[i] : static_cast<int64_t>(i), call.rank(0));
    const Value size = call.size(0, dim);
    // Rounded down on either side of 0.
    const Value crop =
        operators::floordiv(size - shape[i], 2) * (size >= shape[i]);
    const Value grow =
        operators::floordiv(shape[i] - size, 2) * (shape[i] > size);
    const Value start = crop - grow;
    const Value end = start + shape[i];
    ValueList pads(static_cast<size_t>(2 * (call.rank(0) - dim)), 0);
    pads[pads.size() - 2] = 0 - start;
    pads[pads.size() - 1] = end - size;
    y = F::pad(y, Value::list(pads));
  }
  return y;
}

// torch's fold, which takes the sizes of two dims when it runs.
Value fold_plane(const Call& call) {
  const auto pads = per_dim(call, "pads", 4, 0);
  if (call.length(1) != 2 || pads[0] != pads[2] || pads[1] != pads[3])
    call.fail("image_shape, block_shape: they depend on an input");
  return function("torch.ops.aten.col2im.default",
                  {call[0], list_of(call.ints(1)), list_of(call.ints(2)),
                   list_of(per_dim(call, "dilations", 2, 1)),
                   Value::list({pads[0], pads[1]}),
                   list_of(per_dim(call, "strides", 2, 1))});
}

// Sums of blocks that overlap.
Results col2im(Call& call) {
  const auto image = call.known_ints(1), block = call.known_ints(2);
  if (!image || !block) return fold_plane(call);
  const size_t dims = image->size();
  const auto strides = per_dim(call, "strides", dims, 1);
  const auto dilations = per_dim(call, "dilations", dims, 1);
  const auto pads = per_dim(call, "pads", 2 * dims, 0);
  if (block->size() != dims) call.fail("block_shape: expected as many dims");
  // A transposed convolution whose kernel holds a 1 for each element of a
  // block does the same in any number of dims.
  int64_t elements = 1;
  for (const int64_t size : *block) elements *= size;
  if (elements < 1 || elements > 4096) call.fail("block_shape: its product");
  std::vector<Value> counts;
  for (size_t d = 0; d < dims; ++d)
    counts.push_back(((*image)[d] + pads[d] + pads[d + dims] -
                      dilations[d] * ((*block)[d] - 1) - 1) /
                         strides[d] +
                     1);
  const SizeList sizes = call.sizes(0);
  const Value channels = operators::floordiv(sizes[1], elements);
  std::vector<Value> shape = {sizes[0] * channels, Value(elements)};
  shape.insert(shape.end(), counts.begin(), counts.end());
  std::vector<int64_t> kernel = {elements, 1};
  kernel.insert(kernel.end(), block->begin(), block->end());
  const Tensor ones = Tensor::zeros({elements * elements}, DType::f32);
  for (int64_t i = 0; i < elements; ++i)
    ones.data_as<float>()[i * elements + i] = 1;
  const Tensor weight =
      ones.as_strided(Dims(kernel), contiguous_strides(Dims(kernel)), 0)
          .to(call.dtype(0));
  if (dims < 1 || dims > 3) call.fail("expected one to three dims");
  const std::vector<int64_t> none(dims, 0);
  const Value whole = function(
      "torch.conv_transpose" + std::to_string(dims) + "d",
      {reshape(call[0], list_of(shape)), call.recorder().constant(weight), None,
       list_of(strides), list_of(none), list_of(none), 1, list_of(dilations)});
  ValueList crop;
  for (size_t d = dims; d-- > 0;) {
    const Value size = call.sizes_of(whole)[d + 2];
    crop.push_back(-pads[d]);
    crop.push_back((*image)[d] + pads[d] - size);
  }
  std::vector<Value> result = {sizes[0], channels};
  for (const int64_t size : *image) result.emplace_back(size);
  return reshape(F::pad(whole, Value::list(crop)), list_of(result));
}

Results grid_sample(Call& call) {
  std::string mode = call.text("mode", "linear");
  if (mode == "linear") mode = "bilinear";
  if (mode == "cubic") mode = "bicubic";
  return function("torch.nn.functional.grid_sample",
                  {call[0], call[1], mode, call.text("padding_mode", "zeros"),
                   call.flag("align_corners", false)});
}

Results affine_grid(Call& call) {
  return function(
      "torch.nn.functional.affine_grid",
      {call[0], list_of(call.ints(1)), call.flag("align_corners", false)});
}

constexpr OpRow kPlanesOps[] = {
    {.op = "AffineGrid", .since = 20, .run = affine_grid},
    {.op = "CenterCropPad", .since = 18, .run = center_crop_pad},
    {.op = "Col2Im", .since = 18, .run = col2im},
    {.op = "GridSample", .since = 16, .run = grid_sample},
    {.op = "Pad", .run = pad_of},
    {.op = "ReverseSequence", .since = 10, .run = reverse_sequence},
};

}  // namespace

std::span<const OpRow> plane_rows() { return kPlanesOps; }

}  // namespace fxjit::onnx
