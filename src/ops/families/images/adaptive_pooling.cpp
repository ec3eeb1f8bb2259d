// Adaptive pooling. It is separable, and composed of reductions, one spatial
// dim after the other.
#include <algorithm>

#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

// Where output cell `i` of `count` begins in `size` elements.
Size cell_begin(int64_t i, int64_t count, Size size) {
  return ExactInt(i) * size / count;
}
Size cell_end(int64_t i, int64_t count, Size size) {
  return ((ExactInt(i) + 1) * size + count - 1) / count;
}

Value reduced_over(const Value& value, const Value& dims, bool average,
                   bool keepdim) {
  return average ? fxjit::mean(value, dims, keepdim)
                 : fxjit::amax(value, dims, keepdim);
}

// Cells side by side: the first elements of all, then the second, and so on. A
// cell that has no more repeats its last one.
Value adapted_side_by_side(const Value& value, int axis, int64_t count,
                           bool average) {
  const Tensor meta = meta_of(value);
  const int64_t size = meta.sizes()[axis];
  Dims line(meta.dim(), 1);
  line[axis] = count;
  const Tensor lengths = Tensor::empty(line, DType::i64);
  int64_t longest = 0;
  for (int64_t i = 0; i < count; ++i) {
    int64_t& length = lengths.data_as<int64_t>()[i];
    length = cell_end(i, count, size) - cell_begin(i, count, size);
    longest = std::max(longest, length);
  }
  Value total;
  for (int64_t i = 0; i < longest; ++i) {
    const Tensor places = Tensor::empty({count}, DType::i64);
    for (int64_t c = 0; c < count; ++c)
      places.data_as<int64_t>()[c] = std::min(cell_begin(c, count, size) + i,
                                              cell_end(c, count, size) - 1);
    const Value part = fxjit::index_select(value, axis, places);
    if (i == 0)
      total = part;
    else if (average)
      total = total + fxjit::where(fxjit::gt(Value(lengths), i), part, 0.0);
    else
      total = fxjit::maximum(total, part);
  }
  return average ? total / Value(lengths.to(meta.dtype())) : total;
}

// `axis` pooled to `count` cells: equal cells by a reshape, few others one by
// one.
Value adapted(const Value& value, int axis, const Value& wanted, bool average) {
  constexpr int64_t kFewCells = 64;
  const Size size = meta_of(value).sizes()[axis];
  if (size == wanted.as_size()) return value;
  const int64_t count = wanted.as_int();
  if (size % count != 0 && count > kFewCells)
    return adapted_side_by_side(value, axis, count, average);
  if (size % count == 0) {
    const Value cells =
        fxjit::unflatten(value, axis, Value::tuple({count, size / count}));
    return reduced_over(cells, Value::tuple({axis + 1}), average, false);
  }
  ValueList cells;
  for (int64_t i = 0; i < count; ++i) {
    const Size begin = cell_begin(i, count, size);
    const Value part =
        fxjit::narrow(value, axis, begin, cell_end(i, count, size) - begin);
    cells.push_back(reduced_over(part, Value::tuple({axis}), average, true));
  }
  return fxjit::cat(Value::list(std::move(cells)), axis);
}

// "{3, -1}", as torch writes sizes asked for.
std::string braced(const ValueList& items) {
  std::string text = "{";
  for (const Value& item : items)
    text += (text.size() > 1 ? ", " : "") + repr(item);
  return text + "}";
}

Dims adaptive_sizes(const OpCall& call, const ValueList& items, bool average) {
  if (!average && call.flag(2))
    throw NotImplementedError(
        "adaptive_max_pool: expected return_indices=False");
  const Tensor input = meta_of(call[0]);
  const int spatial = static_cast<int>(items.size());
  if (const int d = empty_dim(input, average ? spatial : spatial + 1); d >= 0)
    runtime_error(call.op.name(),
                  "(): Expected input to have non-zero size for non-batch "
                  "dimensions, but input has sizes ",
                  input.sizes(), " with dimension ", d, " being empty");
  Dims sizes = input.sizes();
  for (int i = 0; i < spatial; ++i) {
    const Value& item = items[static_cast<size_t>(i)];
    if (item.is_none()) continue;
    if (item.as_size() < 0)
      runtime_error(call.op.name(),
                    ": elements of output_size must be greater than or equal "
                    "to 0 but received ",
                    braced(items));
    sizes[input.dim() - spatial + i] = item.as_size();
  }
  check_memory(sizes, input.dtype());
  return sizes;
}

// The size asked for along each spatial dim; None keeps a dim's size.
ValueList adaptive_items(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  const std::string_view name = call.op.name();
  const int spatial = name.ends_with("1d") ? 1 : name.ends_with("3d") ? 3 : 2;
  if (input.dim() != spatial + 1 && input.dim() != spatial + 2)
    runtime_error(name, "(): Expected ", spatial + 1, "D or ", spatial + 2,
                  "D tensor, but got ", input.sizes());
  const Value& wanted = call[1];
  ValueList items = wanted.is_sequence()
                        ? wanted.as_sequence()
                        : ValueList(static_cast<size_t>(spatial), wanted);
  if (items.size() == 1) items.resize(static_cast<size_t>(spatial), items[0]);
  if (static_cast<int>(items.size()) != spatial)
    runtime_error(name, "(): output_size must be ", spatial);
  return items;
}

Value adaptive_pool(const OpCall& call, bool average) {
  const Tensor input = meta_of(call[0]);
  const ValueList items = adaptive_items(call);
  const int spatial = static_cast<int>(items.size());
  const DType dtype = input.dtype();
  const Dims sizes = adaptive_sizes(call, items, average);
  if (numel(sizes) == 0) return fxjit::zeros(sizes, dtype);
  const Value wide = widened(call[0], dtype);
  Value value = wide;
  const bool single = std::all_of(items.begin(), items.end(),
                                  [](const Value& i) { return same(i, 1); });
  if (single) {
    ValueList dims;
    for (int i = spatial; i > 0; --i) dims.push_back(-i);
    value = reduced_over(value, Value::tuple(std::move(dims)), average, true);
    return narrowed(value, wide, dtype);
  }
  for (int i = 0; i < spatial; ++i) {
    const Value& item = items[static_cast<size_t>(i)];
    if (!item.is_none())
      value = adapted(value, input.dim() - spatial + i, item, average);
  }
  const bool pooled = !(sizes == input.sizes());
  return method(narrowed(value, wide, dtype), pooled ? "contiguous" : "clone");
}

template <bool kAverage>
Value infer_adaptive(const OpCall& call) {
  return Tensor::meta(adaptive_sizes(call, adaptive_items(call), kAverage),
                      call.tensor(0).dtype());
}

template <bool kAverage>
Value decompose_adaptive(const OpCall& call) {
  return adaptive_pool(call, kAverage);
}

template <bool kAverage>
constexpr OpRow adaptive(const char* name, const char* schema,
                         const char* names) {
  OpRow row = composed_row(name, schema, names, decompose_adaptive<kAverage>);
  row.infer = infer_adaptive<kAverage>;
  return row;
}

constexpr OpRow kAdaptivePoolingRows[] = {
    adaptive<true>("adaptive_avg_pool1d", "input, output_size",
                   "torch.adaptive_avg_pool1d =F.adaptive_avg_pool1d")
        .stating({.layout = Layout::line}),
    adaptive<true>("adaptive_avg_pool2d", "input, output_size",
                   "F.adaptive_avg_pool2d! torch._C._nn.adaptive_avg_pool2d "
                   "nn.AdaptiveAvgPool2d")
        .stating({.layout = Layout::image}),
    adaptive<true>("adaptive_avg_pool3d", "input, output_size",
                   "F.adaptive_avg_pool3d! torch._C._nn.adaptive_avg_pool3d "
                   "nn.AdaptiveAvgPool3d"),
    adaptive<false>("adaptive_max_pool3d",
                    "input, output_size, return_indices=False",
                    "F.adaptive_max_pool3d! torch._C._nn.adaptive_max_pool3d"),
    adaptive<false>("adaptive_max_pool1d",
                    "input, output_size, return_indices=False",
                    "F.adaptive_max_pool1d! torch.adaptive_max_pool1d")
        .stating({.layout = Layout::line}),
    adaptive<false>("adaptive_max_pool2d",
                    "input, output_size, return_indices=False",
                    "F.adaptive_max_pool2d! torch._C._nn.adaptive_max_pool2d")
        .stating({.layout = Layout::image}),
};

}  // namespace

std::span<const OpRow> adaptive_pooling_rows() { return kAdaptivePoolingRows; }

}  // namespace fxjit::ops
