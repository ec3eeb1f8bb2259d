// Convolutions as products of matrices: over planes, of which each is a row,
// and over rows that are windows of an image.
#include <algorithm>

#include "src/ops/eager/convolution.h"
#include "src/passes/channels_last.h"
#include "src/passes/fusing/loop_facts.h"
#include "src/passes/lowering/image_way.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/lowering/lowerings.h"

namespace fxjit::passes {

Value lower_plane_product(GraphBuilder& b, const ops::ConvParams& params,
                          const ValueList& args) {
  Value weight = args[1];
  for (int i = 0; i < params.spatial; ++i)
    weight = call(b, "squeeze", {weight, -1});
  const Value sums =
      b.call(plane_product_op(), {args[0], with_last_dim_dense(b, weight)});
  if (args[2].is_none()) return sums;
  Dims along(params.spatial + 1, 1);  // A number for a plane.
  along[0] = val_of(args[2]).size(0);
  return call(b, "add", {sums, call(b, "reshape", {args[2], along})});
}

namespace {

// A convolution whose windows are the rows of a product: the image [N, ..., C]
// with its taps, in the order of its dims.
struct WindowRows {
  Value image, weight;  // Weights [taps..., C, O].
  Dims taps, stride, before, after, dilation, output;
};

WindowRows rows_of(GraphBuilder& b, const ops::ConvParams& params,
                   const ValueList& args) {
  WindowRows rows;
  const Tensor weight = val_of(args[1]);
  Dims order;
  for (int i = 0; i < params.spatial; ++i) {
    order.push_back(2 + i);
    rows.taps.push_back(weight.size(2 + i));
  }
  order.push_back(1), order.push_back(0);
  rows.image = channels_to_back(b, args[0]);
  rows.weight = call(b, "permute", {args[1], order});
  rows.stride = params.stride, rows.dilation = params.dilation;
  rows.before = params.pad_before, rows.after = params.pad_after;
  rows.output = params.output;
  return rows;
}

// These taps as channels, of places that overlap.
void join_runs(GraphBuilder& b, WindowRows& rows) {
  const Tensor image = val_of(rows.image);
  const int last = rows.taps.size() - 1, rank = image.dim();
  Dims sizes = image.sizes(), strides = image.strides();
  sizes[rank - 1] *= rows.taps[last];
  sizes[rank - 2] = rows.output[rank - 1];
  strides[rank - 2] *= rows.stride[last];
  rows.image =
      call(b, "as_strided", {rows.image, sizes, strides, image.offset()});
  Dims merged = val_of(rows.weight).sizes();  // [..., taps, C, O]
  merged[last + 1] *= merged[last];
  merged[last] = 1;
  rows.weight = call(b, "reshape", {rows.weight, merged});
  rows.taps[last] = rows.stride[last] = 1;
}

// Whether the windows of one row of places read more rows of the image than the
// second-level cache holds, and those of a column much less: windows that are
// high and narrow.
bool goes_down(const WindowRows& rows) {
  constexpr int64_t kHeldBytes = int64_t{256} << 10;
  constexpr int64_t kHigh = 4;
  if (rows.taps.size() != 2 || rows.taps[0] < kHigh * rows.taps[1])
    return false;
  const Tensor image = val_of(rows.image);
  const Size row = image.size(2) * image.size(3) * int64_t{sizeof(float)};
  return rows.taps[0] * row > kHeldBytes;
}

const Dims kColumnsFirst{0, 2, 1, 3};

// Takes places column by column, of an image that lies so.
void go_down(GraphBuilder& b, WindowRows& rows) {
  rows.image = b.call(materialize_op(),
                      {call(b, "permute", {rows.image, kColumnsFirst})});
  rows.weight = call(b, "permute", {rows.weight, Dims{1, 0, 2, 3}});
  for (Dims* dims :
       {&rows.taps, &rows.stride, &rows.before, &rows.after, &rows.dilation})
    std::swap((*dims)[0], (*dims)[1]);
  std::swap(rows.output[2], rows.output[3]);
}

}  // namespace

Value lower_window_product(GraphBuilder& b, const ops::ConvParams& params,
                           const ValueList& args) {
  WindowRows rows = rows_of(b, params, args);
  const bool runs = are_runs(params, val_of(args[0]), val_of(args[1]));
  const bool down = !runs && goes_down(rows);
  if (runs) join_runs(b, rows);
  if (down) go_down(b, rows);
  const Value filter = b.call(materialize_op(), {rows.weight});
  if (!b.constant_of(filter)) return {};
  const Value image = channels_to_front(
      b, runs ? rows.image : with_last_dim_dense(b, rows.image));
  const Value sums = b.call(window_product_op(),
                            {image, filter, rows.taps, rows.stride, rows.before,
                             rows.after, rows.dilation, rows.output});
  const Value made = args[2].is_none() ? sums : call(b, "add", {sums, args[2]});
  return down ? call(b, "permute", {made, kColumnsFirst}) : made;
}

}  // namespace fxjit::passes
