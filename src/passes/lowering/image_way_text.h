// The ways of image_way.h by name, for those who carry and print them.
#pragma once

#include <cstdint>
#include <string_view>

namespace fxjit::passes {

enum class ImageWay : uint8_t {
  none,  // Nothing is known, or it is no image.
  // Generated windows.
  few_planes,
  filter_planes,
  filter_channels,
  narrow_groups,
  narrow_image,
  pool_planes,
  pool_channels,
  // Generated products, transforms and loops.
  by_turns,
  line_rows,
  shifted_views,
  element_planes,
  element_channels,
  winograd,
  window_rows,
  // Loops of C++.
  image_loops,
  // Primitives.
  transposed,
  many_taps,
  wide_groups,
  odd_groups,
  other_level,
  changing_weights,
  short_runs,
};

// A clause with the way and its reason: "window over planes: one filter for
// each channel". Empty for none.
std::string_view image_way_text(ImageWay way);

}  // namespace fxjit::passes
