// Ops that show the same elements in another shape or order.
#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "src/import/onnx/graph_reader.h"
#include "src/import/onnx/ops/families.h"
#include "src/import/onnx/slices.h"

namespace fxjit::onnx {
namespace {

Value product_of(const std::vector<Value>& sizes, size_t begin, size_t end) {
  Value product = 1;
  for (size_t d = begin; d < end; ++d) product = product * sizes[d];
  return product;
}

// The number, or the input's size where it is 0.
Value own_where_0(const Call& call, const Value& number, size_t dim) {
  const auto axis = static_cast<int64_t>(dim);
  if (number.is_int())
    return number.as_int() == 0 ? call.size(0, axis) : number;
  // Sizes of other tensors are taken as they are.
  if (call.operand(1).numbers || axis >= call.rank(0)) return number;
  return number + (number == 0) * call.size(0, axis);
}

// 0 stands for the input's size, unless `allowzero`.
Results reshape_of(Call& call) {
  std::vector<Value> shape;
  if (call.opset() < 5) {
    const auto given = call.integers("shape");
    if (!given) call.fail("attribute shape is missing");
    shape.assign(given->begin(), given->end());
  } else {
    shape = call.ints(1);
  }
  if (!call.flag("allowzero", false))
    for (size_t d = 0; d < shape.size(); ++d)
      shape[d] = own_where_0(call, shape[d], d);
  const Value result = reshape(call[0], list_of(shape));
  // The example may not fit numbers that are known later; the rank does.
  if (!Recorder::example(result).is_none()) return result;
  return call.recorder().assume(
      result,
      Tensor::meta(Dims(static_cast<int>(shape.size()), 1), call.dtype(0)));
}

Results flatten_of(Call& call) {
  const SizeList sizes = call.sizes(0);
  int64_t axis = call.integer("axis", 1);
  const auto rank = static_cast<int64_t>(sizes.size());
  if (axis < -rank || axis > rank)
    call.fail("axis " + std::to_string(axis) + " is not one of " +
              std::to_string(rank) + " dims");
  if (axis < 0) axis += rank;
  const auto split = static_cast<size_t>(axis);
  return reshape(call[0],
                 Value::list({product_of(sizes, 0, split),
                              product_of(sizes, split, sizes.size())}));
}

Results transpose_of(Call& call) {
  auto perm = call.integers("perm");
  if (!perm) {
    perm.emplace(static_cast<size_t>(call.rank(0)));
    std::iota(perm->rbegin(), perm->rend(), 0);
  }
  return permute(call[0], list_of(*perm));
}

// Fails, when the model is loaded or else in calls, where the size is another.
void expect_one(const Call& call, const Value& size, int64_t axis) {
  const std::string what = "axis " + std::to_string(axis) +
                           " has more or less " +
                           "than one element and cannot be squeezed";
  if (!size.is_int()) {
    function("torch.ops.aten._assert_scalar.default", {size == 1, what});
  } else if (size.as_int() != 1) {
    call.fail(what);
  }
}

Value without_dims(const Call& call, std::vector<int64_t> axes) {
  const SizeList sizes = call.sizes(0);
  for (int64_t& axis : axes) axis = call.wrap(axis, call.rank(0));
  std::sort(axes.begin(), axes.end(), std::greater<>());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  Value result = call[0];
  for (const int64_t axis : axes) {
    const Value& size = sizes[static_cast<size_t>(axis)];
    expect_one(call, size, axis);
    // The dim goes whatever the size in the example is.
    result = size.is_int() ? squeeze(result, axis) : select(result, axis, 0);
  }
  return result;
}

// Which dims go is known when the model runs, but not fewer than are named.
Value without_some_dims(const Call& call, const std::vector<Value>& axes) {
  const int rank = call.rank(0) - static_cast<int>(axes.size());
  if (rank < 0) call.fail("axes: more than there are dims");
  const Value squeezed = call.recorder().record_data_sized(
      "torch.squeeze", {call[0], list_of(axes)}, {});
  const Value kept = expand(
      squeezed, list_of(std::vector<int64_t>(static_cast<size_t>(rank), -1)));
  return call.recorder().assume(kept,
                                Tensor::meta(Dims(rank, 1), call.dtype(0)));
}

// All dims of one element go. Where sizes vary, the rank of the result does.
Value without_dims_of_one(Call& call) {
  const SizeList sizes = call.sizes(0);
  std::vector<int64_t> ones;
  bool varies = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    varies = varies || !sizes[d].is_int();
    if (sizes[d].is_int() && sizes[d].as_int() == 1)
      ones.push_back(static_cast<int64_t>(d));
  }
  if (!varies) return without_dims(call, std::move(ones));
  if (!call.reader().example_sizes().many)
    return call.recorder().record_data_sized("torch.squeeze", {call[0]}, {});
  for (size_t d = 0; d < sizes.size(); ++d)
    if (!sizes[d].is_int())
      function("torch.ops.aten._assert_scalar.default",
               {sizes[d] != 1,
                "Squeeze without axes: dim " + std::to_string(d) +
                    " has one element, so that the result has fewer dims than "
                    "the model was read for"});
  return without_dims(call, std::move(ones));
}

Results squeeze_of(Call& call) {
  const auto axes = axes_of(call, 1);
  if (!axes) return without_dims_of_one(call);
  std::vector<int64_t> known;
  for (const Value& axis : *axes)
    if (axis.is_int()) known.push_back(axis.as_int());
  if (known.size() == axes->size()) return without_dims(call, std::move(known));
  return without_some_dims(call, *axes);
}

// Smaller numbers first; of proxies by comparing them in the graph.
void sort_numbers(std::vector<Value>& numbers) {
  for (size_t end = numbers.size(); end > 1; --end)
    for (size_t i = 0; i + 1 < end; ++i) {
      const Value a = numbers[i], b = numbers[i + 1];
      if (a.is_int() && b.is_int()) {
        if (a.as_int() > b.as_int()) std::swap(numbers[i], numbers[i + 1]);
        continue;
      }
      const Value turned = a > b;
      numbers[i] = turned * b + (1 - turned) * a;
      numbers[i + 1] = turned * a + (1 - turned) * b;
    }
}

Results unsqueeze_of(Call& call) {
  auto axes = axes_of(call, 1);
  if (!axes) call.fail("axes are missing");
  if (axes->size() == 1) return unsqueeze(call[0], (*axes)[0]);
  const int64_t rank = call.rank(0) + static_cast<int64_t>(axes->size());
  for (Value& axis : *axes)
    axis = axis.is_int() ? Value(call.wrap(axis.as_int(), rank)) : axis % rank;
  sort_numbers(*axes);
  Value result = call[0];
  for (const Value& axis : *axes) result = unsqueeze(result, axis);
  return result;
}

// The common size of a dim of `own` elements and one of `asked`.
Value broadcast_size(const Value& own, const Value& asked) {
  if (asked.is_int()) return asked.as_int() == 1 ? own : asked;
  if (own.is_int()) return own.as_int() == 1 ? asked : own;
  const Value keeps = asked == 1;
  return keeps * own + (1 - keeps) * asked;
}

Results expand_of(Call& call) {
  std::vector<Value> shape = call.ints(1);
  const SizeList own = call.sizes(0);
  while (shape.size() < own.size()) shape.insert(shape.begin(), 1);
  const size_t more = shape.size() - own.size();
  for (size_t d = 0; d < own.size(); ++d)
    shape[more + d] = broadcast_size(own[d], shape[more + d]);
  return expand(call[0], list_of(shape));
}

// One more part behind a tensor, in each iteration of a loop.
Results longer(const Call& call, int64_t axis) {
  auto grown = std::make_shared<GrownSequence>(*call.operand(0).grown);
  ValueList parts;
  for (size_t i = 1; i < call.inputs(); ++i) parts.push_back(call[i]);
  if (!grown->stack.is_none() || parts.empty())
    call.fail("a tensor that a loop makes longer is only appended to");
  grown->axis = call.wrap(axis, call.rank(1));
  grown->appended.push_back(
      parts.size() == 1 ? parts[0] : cat(Value::list(std::move(parts)), axis));
  Operand result;
  result.grown = std::move(grown);
  return result;
}

Results concat(Call& call) {
  const int64_t axis =
      call.opset() < 4 ? call.integer("axis", 1) : call.integer("axis");
  if (call.has(0) && call.operand(0).grown) return longer(call, axis);
  if (call.inputs() == 1) return call.operand(0);
  return cat(Value::list(call.all()), axis);
}

Value slice_dim(const Value& x, const Value& axis, const Value& start,
                const Value& end, const Value& step) {
  return function("torch.ops.aten.slice.Tensor", {x, axis, start, end, step});
}

// Parts of the same size, the last one smaller where it must be.
Value equal_parts(const Call& call, const Value& x, int64_t axis,
                  int64_t count) {
  const Value size = call.size(0, axis);
  if (!size.is_int()) {
    const Value each = operators::floordiv(size + (count - 1), count);
    ValueList slices;
    for (int64_t i = 0; i < count; ++i)
      slices.push_back(slice_dim(x, axis, each * i, each * (i + 1), 1));
    return Value::tuple(std::move(slices));
  }
  const int64_t each = (size.as_int() + count - 1) / count;
  std::vector<int64_t> parts;
  for (int64_t i = 0; i < count; ++i)
    parts.push_back(std::clamp<int64_t>(size.as_int() - i * each, 0, each));
  return split(x, list_of(parts), axis);
}

Results split_of(Call& call) {
  const int64_t axis = call.wrap(call.integer("axis", 0), call.rank(0));
  const auto count = static_cast<int64_t>(call.outputs());
  Value parts;
  if (call.has(1)) {
    parts = split(call[0], list_of(call.ints(1)), axis);
  } else if (const auto sizes = call.integers("split")) {
    parts = split(call[0], list_of(*sizes), axis);
  } else {
    const int64_t asked = call.integer("num_outputs", count);
    if (asked < 1) call.fail("num_outputs: " + std::to_string(asked));
    parts = equal_parts(call, call[0], axis, asked);
  }
  if (parts.is_sequence() && parts.size() < call.outputs())
    call.fail("it has " + std::to_string(count) + " outputs, split into " +
              std::to_string(parts.size()));
  std::vector<Operand> results;
  for (size_t i = 0; i < call.outputs(); ++i)
    results.emplace_back(part_of(parts, i));
  return results;
}

// A negative step counts from the last element: the dim is turned around.
Value slice_back(const Call& call, const Value& x, const Slice& slice) {
  const Value turned = flip(x, Value::list({slice.axis}));
  const Value size = call.size(0, slice.axis);
  if (size.is_int()) {
    const Slice inside = slice.clamped(size.as_int());
    return slice_dim(turned, slice.axis, size.as_int() - 1 - inside.start,
                     size.as_int() - 1 - inside.end, -slice.step);
  }
  // From the end, and beyond one of the ends, no size is needed.
  constexpr int64_t kFar = std::numeric_limits<int32_t>::max();
  const auto place = [&](int64_t at) -> Value {
    if (at >= kFar) return 0;
    if (at <= -kFar) return kFar;
    return at < 0 ? Value(-1 - at) : at_least_0(size - 1 - at);
  };
  // A start in front of the first element is that element, an end is not.
  Value start = place(slice.start);
  if (slice.start < -1) {
    const Value beyond = start >= size;
    start = beyond * at_least_0(size - 1) + (1 - beyond) * start;
  }
  return slice_dim(turned, slice.axis, start, place(slice.end), -slice.step);
}

// Numbers that are known when the model runs only: the places to read are
// computed. Places are counted as `Slice::clamped` does.
Value slice_by_places(const Call& call, const Value& x, const Value& axis,
                      Value start, Value end, const Value& step) {
  const Value size = function("torch.ops.aten.sym_size.int", {call[0], axis});
  const auto inside = [&](Value at, const Value& low, const Value& high) {
    at = at + (at < 0) * size;
    const Value below = (at < low), above = (at > high);
    return below * low + above * high + (1 - below) * (1 - above) * at;
  };
  const Value back = step < 0;
  start = inside(start, 0, size - back);
  end = inside(end, -back, size - back);
  // Rounded up, and none where the end is not behind the start or the dim is
  // empty.
  const Value steps = 0 - operators::floordiv(start - end, step);
  const Value count = at_least_0(steps) * (size > 0);
  return index_select(x, axis, line(count) * step + start);
}

Results slice(Call& call) {
  Value result = call[0];
  if (const auto slices = known_slices(call)) {
    for (const Slice& one : *slices)
      result = one.step > 0
                   ? slice_dim(result, one.axis, one.start, one.end, one.step)
                   : slice_back(call, result, one);
    return result;
  }
  const std::vector<Value> starts = call.ints(1), ends = call.ints(2);
  std::vector<Value> axes, steps;
  if (call.has(3)) axes = call.ints(3);
  if (call.has(4)) steps = call.ints(4);
  const size_t count = starts.size();
  if (ends.size() != count || (call.has(3) && axes.size() != count) ||
      (call.has(4) && steps.size() != count))
    call.fail("starts, ends, axes and steps: expected as many of each");
  for (size_t i = 0; i < count; ++i) {
    const Value axis = call.has(3) ? axes[i] : Value(i);
    const Value step = call.has(4) ? steps[i] : Value(1);
    const bool forward = step.is_int() && step.as_int() > 0;
    result =
        forward ? slice_dim(result, axis, starts[i], ends[i], step)
                : slice_by_places(call, result, axis, starts[i], ends[i], step);
  }
  return result;
}

Results tile(Call& call) { return repeat(call[0], list_of(call.ints(1))); }

// [n, c, h, w] in blocks, of which each becomes a square of elements.
Results depth_to_space(Call& call) {
  const int64_t block = call.integer("blocksize");
  if (block < 1) call.fail("blocksize: " + std::to_string(block));
  const SizeList s = call.sizes(0);
  if (s.size() != 4) call.fail("expected four dims");
  const Value depth = operators::floordiv(s[1], block * block);
  const bool columns_first = call.text("mode", "DCR") == "CRD";
  const Value parts =
      columns_first
          ? reshape(call[0],
                    Value::list({s[0], depth, block, block, s[2], s[3]}))
          : reshape(call[0],
                    Value::list({s[0], block, block, depth, s[2], s[3]}));
  const Value order = columns_first ? permute(parts, {0, 1, 4, 2, 5, 3})
                                    : permute(parts, {0, 3, 4, 1, 5, 2});
  return reshape(order, Value::list({s[0], depth, s[2] * block, s[3] * block}));
}

Results space_to_depth(Call& call) {
  const int64_t block = call.integer("blocksize");
  if (block < 1) call.fail("blocksize: " + std::to_string(block));
  const SizeList s = call.sizes(0);
  if (s.size() != 4) call.fail("expected four dims");
  const Value rows = operators::floordiv(s[2], block);
  const Value columns = operators::floordiv(s[3], block);
  const Value parts =
      reshape(call[0], Value::list({s[0], s[1], rows, block, columns, block}));
  return reshape(permute(parts, {0, 3, 5, 1, 2, 4}),
                 Value::list({s[0], s[1] * (block * block), rows, columns}));
}

constexpr OpRow kShapesOps[] = {
    {.op = "Concat", .run = concat},
    {.op = "DepthToSpace", .run = depth_to_space},
    {.op = "Expand", .since = 8, .run = expand_of},
    {.op = "Flatten", .run = flatten_of},
    {.op = "Reshape", .run = reshape_of},
    {.op = "Slice", .run = slice},
    {.op = "SpaceToDepth", .run = space_to_depth},
    {.op = "Split", .run = split_of},
    {.op = "Squeeze", .run = squeeze_of},
    {.op = "Tile", .since = 6, .run = tile},
    {.op = "Transpose", .run = transpose_of},
    {.op = "Unsqueeze", .run = unsqueeze_of},
};

}  // namespace

std::span<const OpRow> shape_rows() { return kShapesOps; }

}  // namespace fxjit::onnx
