// Pooling by windows and over whole planes.
#include <algorithm>
#include <limits>

#include "src/import/onnx/ops/families.h"
#include "src/import/onnx/ops/windows.h"

namespace fxjit::onnx {
namespace {

namespace F = nn::functional;

Value lowest(DType dtype) {
  if (is_floating(dtype)) return -std::numeric_limits<double>::infinity();
  return dtype == DType::u8 ? 0 : -128;
}

// torch pads by at most half a kernel.
bool torch_pads(const Windows& windows) {
  if (!windows.symmetric()) return false;
  for (size_t d = 0; d < windows.dims; ++d)
    if (2 * windows.begin[d].as_int() > windows.kernel[d]) return false;
  return true;
}

// Windows without padding in front, whose last one may end outside: with
// ceil_mode, torch takes every window that begins inside.
bool ends_outside(const Call& call, const Windows& windows, size_t d) {
  const int64_t stride = windows.strides[d];
  const int64_t reach = (windows.kernel[d] - 1) * windows.dilations[d] + 1;
  const Value size = call.size(0, static_cast<int64_t>(d) + 2);
  const Value &begin = windows.begin[d], &end = windows.end[d];
  if (!size.is_int() || !begin.is_int() || !end.is_int())
    return windows.same_upper && reach <= std::min<int64_t>(stride, 2);
  const int64_t n = size.as_int(), behind = end.as_int();
  if (begin.as_int() != 0 || behind < 0 || n < reach || windows.ceil_mode)
    return false;
  return (n + behind - reach) / stride == (n - reach + stride - 1) / stride;
}

// The windows as torch words them where padding lies behind the input alone.
std::optional<Windows> without_padding(const Call& call, Windows windows) {
  for (size_t d = 0; d < windows.dims; ++d)
    if (!ends_outside(call, windows, d)) return std::nullopt;
  windows.begin.assign(windows.dims, 0);
  windows.end = windows.begin;
  windows.ceil_mode = true;
  return windows;
}

// Places in planes, of those in planes with padding around them.
Value unpadded_places(const Call& call, const Windows& windows, Value places) {
  std::vector<Value> ats;
  for (size_t d = windows.dims; d-- > 0;) {
    const Value size = call.size(0, static_cast<int64_t>(d) + 2);
    const Value padded = size + windows.begin[d] + windows.end[d];
    const Value at = remainder(places, padded) - windows.begin[d];
    places = floor_divide(places, padded);
    // Of a window without a number the first one counts, which may be padding.
    ats.push_back(clamp(at, 0, size - 1));
  }
  Value unpadded = ats.back();
  for (size_t d = 1; d < windows.dims; ++d)
    unpadded = unpadded * call.size(0, static_cast<int64_t>(d) + 2) +
               ats[windows.dims - 1 - d];
  return unpadded;
}

// Places in the whole input instead of those in a plane.
Value whole_places(const Call& call, const Windows& windows, Value places) {
  const SizeList sizes = call.sizes(0);
  Value plane = 1;
  for (size_t d = 2; d < sizes.size(); ++d) plane = plane * sizes[d];
  if (call.flag("storage_order", false)) {
    if (windows.dims != 2)
      call.fail("storage_order: expected two dims behind the channels");
    const Value& columns = sizes[3];
    const Value row = floor_divide(places, columns);
    const Value column = remainder(places, columns);
    places = column * sizes[2] + row;
  }
  const Value planes = line(sizes[0] * sizes[1]);
  std::vector<Value> shape = {sizes[0], sizes[1]};
  shape.insert(shape.end(), windows.dims, Value(1));
  return places + reshape(planes * plane, list_of(shape));
}

// Windows side by side: those of as much padding in front as behind, without
// the first or last ones, which would begin in padding that is not there.
std::optional<Value> cut_pool(const Call& call, const Windows& windows) {
  Windows wider = windows;
  for (size_t d = 0; d < windows.dims; ++d) {
    if (windows.strides[d] != 1 || !windows.begin[d].is_int() ||
        !windows.end[d].is_int())
      return std::nullopt;
    const int64_t most =
        std::max(windows.begin[d].as_int(), windows.end[d].as_int());
    wider.begin[d] = wider.end[d] = most;
  }
  if (!torch_pads(wider)) return std::nullopt;
  Value y = function(with_dims(call, "torch.max_pool", windows.dims),
                     {call[0], list_of(wider.kernel), list_of(wider.strides),
                      wider.padding(true), list_of(wider.dilations), false});
  for (size_t d = 0; d < windows.dims; ++d) {
    const int64_t first = (wider.begin[d] - windows.begin[d]).as_int();
    const int64_t left = (wider.end[d] - windows.end[d]).as_int();
    if (first == 0 && left == 0) continue;
    y = function("torch.ops.aten.slice.Tensor",
                 {y, static_cast<int64_t>(d) + 2, first,
                  left == 0 ? std::numeric_limits<int64_t>::max() : -left});
  }
  return y;
}

Results max_pool(Call& call) {
  Windows windows = read_windows(call, {});
  bool direct = torch_pads(windows);
  if (const auto plain =
          direct ? std::nullopt : without_padding(call, windows)) {
    windows = *plain;
    direct = true;
  }
  if (const auto cut =
          direct || call.wants(1) ? std::nullopt : cut_pool(call, windows))
    return *cut;
  const DType dtype = call.dtype(0);
  const Value x =
      direct ? call[0]
             : F::pad(call[0], windows.pad_list(), "constant", lowest(dtype));
  const ValueList args = {x,
                          list_of(windows.kernel),
                          list_of(windows.strides),
                          windows.padding(direct),
                          list_of(windows.dilations),
                          windows.ceil_mode};
  if (!call.wants(1))
    return function(with_dims(call, "torch.max_pool", windows.dims), args);
  const Value both =
      function(with_dims(call, "torch.ops.aten.max_pool", windows.dims) +
                   "_with_indices.default",
               args);
  const Value places = direct
                           ? part_of(both, 1)
                           : unpadded_places(call, windows, part_of(both, 1));
  return std::vector<Operand>{part_of(both, 0),
                              whole_places(call, windows, places)};
}

// The sum of each window, of planes padded by zeros: a convolution with ones.
Value window_sums(const Call& call, const Windows& windows, const Value& x) {
  const SizeList sizes = call.sizes_of(x);
  std::vector<Value> planes = {sizes[0] * sizes[1], Value(1)};
  planes.insert(planes.end(), sizes.begin() + 2, sizes.end());
  Value padded = F::pad(reshape(x, list_of(planes)), windows.pad_list());
  std::vector<int64_t> kernel = {1, 1};
  kernel.insert(kernel.end(), windows.kernel.begin(), windows.kernel.end());
  const Value ones = call.recorder().constant(
      Tensor::full(Dims(kernel), 1, call.dtype_of(x)), "window");
  const Value sums =
      function(with_dims(call, "torch.conv", windows.dims),
               {padded, ones, None, list_of(windows.strides),
                windows.padding(false), list_of(windows.dilations)});
  std::vector<Value> shape = call.sizes_of(sums);
  shape.erase(shape.begin(), shape.begin() + 2);
  shape.insert(shape.begin(), {sizes[0], sizes[1]});
  return reshape(sums, list_of(shape));
}

// With what a window that begins inside but ends outside reads of the outside.
Windows with_last_window(const Call& call, Windows windows) {
  if (!windows.ceil_mode) return windows;
  for (size_t d = 0; d < windows.dims; ++d) {
    const Value size = call.size(0, static_cast<int64_t>(d) + 2);
    if (!size.is_int() || !windows.begin[d].is_int() ||
        !windows.end[d].is_int())
      call.fail("ceil_mode with sizes that vary is not supported");
    const int64_t begin = windows.begin[d].as_int(), n = size.as_int();
    const int64_t reach = (windows.kernel[d] - 1) * windows.dilations[d] + 1;
    const int64_t left = begin + n + windows.end[d].as_int() - reach;
    const int64_t stride = windows.strides[d];
    int64_t steps = (left + stride - 1) / stride;
    // It begins in the input or the padding in front of it.
    if (steps * stride >= n + begin) --steps;
    windows.end[d] =
        windows.end[d].as_int() + std::max<int64_t>(steps * stride - left, 0);
  }
  return windows;
}

Value average_by_sums(const Call& call, const Windows& windows) {
  const Windows whole = with_last_window(call, windows);
  const Value sums = window_sums(call, whole, call[0]);
  Value counted = ones_like(call[0]);
  if (!call.flag("count_include_pad", false))
    return sums / window_sums(call, whole, counted);
  // The padding counts, but not what a last window reads beyond it.
  Windows beyond = whole;
  for (size_t d = 0; d < windows.dims; ++d) {
    beyond.begin[d] = 0;
    beyond.end[d] = whole.end[d] - windows.end[d];
  }
  counted = F::pad(counted, windows.pad_list(), "constant", 1.0);
  return sums / window_sums(call, beyond, counted);
}

Results average_pool(Call& call) {
  Windows windows = read_windows(call, {});
  const bool padding_counts = call.flag("count_include_pad", false);
  if (!torch_pads(windows) && !padding_counts)
    windows = without_padding(call, windows).value_or(windows);
  bool dilated = false;
  for (const int64_t dilation : windows.dilations) dilated |= dilation != 1;
  if (dilated || !torch_pads(windows)) return average_by_sums(call, windows);
  return function(
      with_dims(call, "torch.ops.aten.avg_pool", windows.dims) + ".default",
      {call[0], list_of(windows.kernel), list_of(windows.strides),
       windows.padding(true), windows.ceil_mode, padding_counts});
}

Value root(const Value& x, double p) { return p == 1 ? x : pow(x, 1 / p); }

Value lp_power(const Value& x, double p) {
  const Value size = abs(x);
  return p == 1 ? size : pow(size, p);
}

// `p` was a float in the first version.
double order_of(const Call& call) {
  return call.opset() < 2 ? call.real("p", 2)
                          : static_cast<double>(call.integer("p", 2));
}

Results lp_pool(Call& call) {
  const double p = order_of(call);
  const Windows windows = with_last_window(call, read_windows(call, {}));
  return root(window_sums(call, windows, lp_power(call[0], p)), p);
}

Results global_average(Call& call) {
  return mean(call[0], list_of(dims_from(2, call.rank(0))), true);
}

Results global_max(Call& call) {
  return amax(call[0], list_of(dims_from(2, call.rank(0))), true);
}

Results global_lp(Call& call) {
  const double p = order_of(call);
  return root(
      sum(lp_power(call[0], p), list_of(dims_from(2, call.rank(0))), true), p);
}

// Numbers go to their places of a plane of zeros.
Results max_unpool(Call& call) {
  const SizeList sizes = call.sizes(0);
  const size_t dims = sizes.size() - 2;
  const auto kernel = call.integers("kernel_shape");
  if (!kernel || kernel->size() != dims)
    call.fail("attribute kernel_shape: expected " + std::to_string(dims) +
              " numbers");
  const auto strides = per_dim(call, "strides", dims, 1);
  const auto pads = per_dim(call, "pads", 2 * dims, 0);
  std::vector<Value> own = {sizes[0], sizes[1]};
  for (size_t d = 0; d < dims; ++d)
    own.push_back((sizes[d + 2] - 1) * strides[d] +
                  ((*kernel)[d] - pads[d] - pads[d + dims]));
  Value all = 1;
  for (const Value& size : own) all = all * size;
  const Value zeros = full(Value::list({all}), 0, call.dtype(0));
  const Value flat =
      scatter(held(call, zeros), 0, flatten(call[1]), flatten(call[0]));
  const Value filled = reshape(flat, list_of(own));
  if (!call.has(2)) return filled;
  // A larger result holds this one; the rest of it is zeros.
  const std::vector<Value> shape = call.ints(2);
  if (shape.size() != own.size()) call.fail("output_shape: its length");
  std::vector<Value> behind;
  for (size_t d = 0; d < shape.size(); ++d) behind.push_back(shape[d] - own[d]);
  return F::pad(filled, pad_list(ValueList(behind.size(), 0), behind));
}

constexpr OpRow kPoolingOps[] = {
    {.op = "AveragePool", .run = average_pool},
    {.op = "GlobalAveragePool", .run = global_average},
    {.op = "GlobalLpPool", .run = global_lp},
    {.op = "GlobalMaxPool", .run = global_max},
    {.op = "LpPool", .run = lp_pool},
    {.op = "MaxPool", .run = max_pool},
    {.op = "MaxUnpool", .since = 9, .run = max_unpool},
};

}  // namespace

std::span<const OpRow> pooling_rows() { return kPoolingOps; }

}  // namespace fxjit::onnx
