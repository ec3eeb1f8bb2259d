// Convolutions as products of matrices: over planes, of which each is a row,
// and over rows that are windows of an image.
#include <algorithm>

#include "src/ops/eager/convolution.h"
#include "src/passes/channels_last.h"
#include "src/passes/fusing/loop_facts.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/lowering/lowerings.h"

namespace fxjit::passes {
namespace {

// Whether the image lies in planes that a product can read as the rows of a
// matrix: places dense, and enough of them that a last panel of columns that is
// not full costs little.
bool suits_plane_product(GraphBuilder& b, const ops::ConvParams& params,
                         const Value& x) {
  constexpr int64_t kLeastPlaces = 192;
  const Tensor image = val_of(x);
  const int rank = image.dim();
  Size places = 1;
  for (int d = 2; d < rank; ++d) places *= image.size(d);
  return b.options().lowering->plane_windows && params.spatial >= 1 &&
         std::ranges::all_of(params.stride, [](Size s) { return s == 1; }) &&
         !is_channels_last(image) && image.stride(-1) == 1 &&
         uniform_stride(image.sizes(), image.strides(), 2, rank) == 1 &&
         places >= kLeastPlaces;
}

}  // namespace

Value lower_plane_product(GraphBuilder& b, const ops::ConvParams& params,
                          const ValueList& args) {
  if (!suits_plane_product(b, params, args[0])) return {};
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

// Whether tiles over windows are faster than oneDNN: its direct convolutions
// take a tenth of the time more. With fewer channels the loop over those of one
// tap is too short.
bool suits_window_product(GraphBuilder& b, const ops::ConvParams& params,
                          const ValueList& args) {
  constexpr int64_t kLeastChannels = 16;
  const Tensor weight = val_of(args[1]);
  return b.options().lowering->plane_windows && b.constant_of(args[1]) &&
         weight.dtype() == DType::f32 && !params.transposed &&
         params.groups == 1 && params.spatial >= 1 &&
         weight.size(1) >= kLeastChannels;
}

}  // namespace

Value lower_window_product(GraphBuilder& b, const ops::ConvParams& params,
                           const ValueList& args) {
  if (!suits_window_product(b, params, args)) return {};
  const Tensor weight = val_of(args[1]);
  const Value image = channels_to_front(
      b, with_last_dim_dense(b, channels_to_back(b, args[0])));
  Dims order, taps;  // [taps..., C, O]
  for (int i = 0; i < params.spatial; ++i) {
    order.push_back(2 + i);
    taps.push_back(weight.size(2 + i));
  }
  order.push_back(1), order.push_back(0);
  const Value filter =
      b.call(materialize_op(), {call(b, "permute", {args[1], order})});
  if (!b.constant_of(filter)) return {};
  const Value sums =
      b.call(window_product_op(),
             {image, filter, taps, params.stride, params.pad_before,
              params.pad_after, params.dilation, params.output});
  return args[2].is_none() ? sums : call(b, "add", {sums, args[2]});
}

}  // namespace fxjit::passes
