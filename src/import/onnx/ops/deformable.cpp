// Convolutions whose windows are bent: each place of a window lies where an
// input says, between the elements of the plane. They are samples of the
// planes, then an ordinary product.
#include "src/import/onnx/ops/families.h"
#include "src/import/onnx/ops/windows.h"

namespace fxjit::onnx {
namespace {

// Sizes of one call. `taps` is the number of places in a window, `groups` that
// of the channels that share one bend.
struct Sizes {
  Value batch, channels, height, width, rows, columns;
  int64_t taps, groups;
};

// The places of a window are constants of the graph.
constexpr int64_t kMostTaps = 1 << 16;

// The sizes come from the file: their product is not made before it is known to
// be small.
void check_sizes(const Call& call, const std::vector<int64_t>& kernel) {
  for (const int64_t size : kernel)
    if (size < 1)
      call.fail("weight: expected a window of 1 or more, got " +
                std::to_string(size));
  if (kernel[1] > kMostTaps / kernel[0])
    call.fail("weight: the window is too large: " + std::to_string(kernel[0]) +
              " x " + std::to_string(kernel[1]) + ", at most " +
              std::to_string(kMostTaps) + " places are supported");
}

std::vector<int64_t> window_sizes(const Call& call) {
  if (call.rank(0) != 4 || call.rank(1) != 4)
    call.fail("expected planes of two dims, and a weight of four dims");
  std::vector<int64_t> kernel;
  for (const int64_t dim : {2, 3}) {
    const Value size = call.size(1, dim);
    if (!size.is_int()) call.fail("the sizes of the weight vary");
    kernel.push_back(size.as_int());
  }
  check_sizes(call, kernel);
  return kernel;
}

// At most kMostTaps.
int64_t taps_of(const Windows& windows) {
  return windows.kernel[0] * windows.kernel[1];
}

Sizes read_sizes(const Call& call, const Windows& windows) {
  const SizeList input = call.sizes(0), bends = call.sizes(2);
  if (bends.size() != 4) call.fail("offset: expected four dims");
  const int64_t groups = call.integer("offset_group", 1);
  if (groups < 1) call.fail("attribute offset_group: expected at least 1");
  return {input[0], input[1], input[2],         input[3],
          bends[2], bends[3], taps_of(windows), groups};
}

// Where the places of all windows lie along one dim before they are bent:
// [taps, n, 1] or [taps, 1, n].
Value straight(const Call& call, const Windows& windows, size_t dim,
               const Value& count, DType dtype) {
  const int64_t taps = taps_of(windows);
  const Tensor within = Tensor::empty({taps, 1, 1}, DType::f64);
  for (int64_t tap = 0; tap < taps; ++tap) {
    const int64_t at =
        dim == 0 ? tap / windows.kernel[1] : tap % windows.kernel[1];
    // int64 need not hold the product, which may be far outside of the plane.
    within.data_as<double>()[tap] =
        static_cast<double>(at) * static_cast<double>(windows.dilations[dim]);
  }
  const Value starts = cast(call, arange(count), dtype) * windows.strides[dim] -
                       windows.begin[dim];
  return call.recorder().constant(within.to(dtype)) +
         unsqueeze(starts, dim == 0 ? 1 : 0);
}

// The places as grid_sample counts them: -1 and 1 are the edges of the plane.
Value on_grid(const Value& places, const Value& size) {
  return (places * 2 + 1) / size - 1;
}

// [batch * groups, taps * rows, columns, 2], x before y.
Value grid(const Call& call, const Windows& windows, const Sizes& sizes,
           DType dtype) {
  const Value bends =
      reshape(cast(call, call[2], dtype),
              Value::list({sizes.batch * sizes.groups, sizes.taps, 2,
                           sizes.rows, sizes.columns}));
  const Value y =
      select(bends, 2, 0) + straight(call, windows, 0, sizes.rows, dtype);
  const Value x =
      select(bends, 2, 1) + straight(call, windows, 1, sizes.columns, dtype);
  const Value both = function(
      "torch.stack",
      {Value::list({on_grid(x, sizes.width), on_grid(y, sizes.height)}), -1});
  return reshape(
      both, Value::list({sizes.batch * sizes.groups, sizes.rows * sizes.taps,
                         sizes.columns, 2}));
}

// What lies in the windows: [batch, channels * taps, rows, columns].
Value samples(const Call& call, const Windows& windows, const Sizes& sizes) {
  // Halves cannot say where between two elements a place lies.
  const DType dtype = call.dtype(0) == DType::f64 ? DType::f64 : DType::f32;
  const Value of_group = operators::floordiv(sizes.channels, sizes.groups);
  const Value planes =
      reshape(cast(call, call[0], dtype),
              Value::list({sizes.batch * sizes.groups, of_group, sizes.height,
                           sizes.width}));
  Value taken = function(
      "torch.nn.functional.grid_sample",
      {planes, grid(call, windows, sizes, dtype), "bilinear", "zeros", false});
  if (call.has(4))
    taken =
        taken * reshape(cast(call, call[4], dtype),
                        Value::list({sizes.batch * sizes.groups, 1,
                                     sizes.rows * sizes.taps, sizes.columns}));
  return cast(
      call,
      reshape(taken, Value::list({sizes.batch, sizes.channels * sizes.taps,
                                  sizes.rows, sizes.columns})),
      call.dtype(0));
}

Results deform_conv(Call& call) {
  const Windows windows = read_windows(call, window_sizes(call));
  const Sizes sizes = read_sizes(call, windows);
  const Value of_group = call.size(1, 1);
  const Value weight = reshape(
      call[1], Value::list({call.size(1, 0), of_group * sizes.taps, 1, 1}));
  return function("torch.conv2d",
                  {samples(call, windows, sizes), weight, call.optional(3), 1,
                   0, 1, call.integer("group", 1)});
}

constexpr OpRow kDeformableOps[] = {
    {.op = "DeformConv", .since = 19, .run = deform_conv},
};

}  // namespace

std::span<const OpRow> deformable_rows() { return kDeformableOps; }

}  // namespace fxjit::onnx
