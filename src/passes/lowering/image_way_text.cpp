#include "src/passes/lowering/image_way_text.h"

namespace fxjit::passes {

std::string_view image_way_text(ImageWay way) {
  switch (way) {
    case ImageWay::none:
      break;
    case ImageWay::few_planes:
      return "window over planes: too few channels and features for a product";
    case ImageWay::filter_planes:
      return "window over planes: one filter for each channel";
    case ImageWay::filter_channels:
      return "window with channels innermost: one filter for each channel";
    case ImageWay::narrow_groups:
      return "window: groups of few channels";
    case ImageWay::narrow_image:
      return "window: an image of few channels";
    case ImageWay::pool_planes:
      return "window over planes: rows are long enough for vectors";
    case ImageWay::pool_channels:
      return "window with channels innermost: so they lie, or planes suit no "
             "vectors";
    case ImageWay::by_turns:
      return "convolutions of stride 1: transposed, and its results lie by "
             "turns";
    case ImageWay::line_rows:
      return "product: windows of the line are runs of memory";
    case ImageWay::shifted_views:
      return "sum of shifted views: one filter for each channel";
    case ImageWay::element_planes:
      return "product over planes: windows of one element";
    case ImageWay::element_channels:
      return "product: windows of one element";
    case ImageWay::winograd:
      return "Winograd: its transforms and products cost less than direct sums";
    case ImageWay::window_rows:
      return "product: windows are rows that tiles gather";
    case ImageWay::image_loops:
      return "loops of C++: an image of up to 4 channels";
    case ImageWay::transposed:
      return "primitive: transposed, and by turns it would be more work";
    case ImageWay::many_taps:
      return "primitive: a filter of too many taps for generated code";
    case ImageWay::wide_groups:
      return "primitive: groups of more channels than windows sum";
    case ImageWay::odd_groups:
      return "primitive: groups that fit no vectors";
    case ImageWay::other_level:
      return "primitive: faster than products over windows at this CPU level";
    case ImageWay::changing_weights:
      return "primitive: weights that are not constant cannot be packed once";
    case ImageWay::short_runs:
      return "primitive: too few channels side by side for products over "
             "windows";
  }
  return "";
}

}  // namespace fxjit::passes
