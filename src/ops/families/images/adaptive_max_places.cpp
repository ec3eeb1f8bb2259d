// Adaptive max pooling with the places of the maxima, which compiled programs
// look for only where they are read.
#include <array>
#include <cmath>

#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

constexpr int kMostDims = 3;
using Spatial = std::array<int64_t, kMostDims>;

// The last `count` sizes, behind sizes of 1.
Spatial spatial_sizes(const Dims& sizes, int count) {
  Spatial result;
  result.fill(1);
  for (int d = 0; d < count; ++d)
    result[static_cast<size_t>(kMostDims - count + d)] =
        sizes[sizes.size() - count + d];
  return result;
}

struct Cells {
  Spatial input, output;

  int64_t begin(size_t d, int64_t i) const { return i * input[d] / output[d]; }
  int64_t end(size_t d, int64_t i) const {
    return ((i + 1) * input[d] + output[d] - 1) / output[d];
  }
};

// The place of the greatest element of one cell, counted in its image. The
// last NaN is greater than all others.
template <typename T>
int64_t place_of_greatest(const T* image, const Cells& cells,
                          const Spatial& cell) {
  int64_t place = -1;
  for (int64_t z = cells.begin(0, cell[0]); z < cells.end(0, cell[0]); ++z)
    for (int64_t y = cells.begin(1, cell[1]); y < cells.end(1, cell[1]); ++y)
      for (int64_t x = cells.begin(2, cell[2]); x < cells.end(2, cell[2]);
           ++x) {
        const int64_t at = (z * cells.input[1] + y) * cells.input[2] + x;
        const T value = image[at];
        if (place < 0 || value > image[place] || value != value) place = at;
      }
  return place;
}

template <typename T>
void find_places(const Tensor& input, const Tensor& out, const Cells& cells) {
  const auto& [depth, height, width] = cells.output;
  const int64_t image = cells.input[0] * cells.input[1] * cells.input[2];
  const T* from = input.data_as<T>();
  int64_t* to = out.data_as<int64_t>();
  for (int64_t i = 0; i < input.numel() / image; ++i, from += image)
    for (int64_t z = 0; z < depth; ++z)
      for (int64_t y = 0; y < height; ++y)
        for (int64_t x = 0; x < width; ++x)
          *to++ = place_of_greatest(from, cells, {z, y, x});
}

// (input, output_size).
Value infer_places(const OpCall& call) {
  const Dims wanted = call.dims(1);
  Dims sizes = call.tensor(0).sizes();
  for (int d = 0; d < wanted.size(); ++d)
    sizes[sizes.size() - wanted.size() + d] = wanted[d];
  return Tensor::meta(sizes, DType::i64);
}

void run_places(const OpCall& call, std::span<const Tensor> results) {
  if (results[0].numel() == 0) return;
  const DType dtype = kernel_dtype(call.tensor(0).dtype());
  const Tensor input = call.tensor(0).to(dtype).contiguous();
  const int count = call.dims(1).size();
  const Cells cells{spatial_sizes(input.sizes(), count),
                    spatial_sizes(call.dims(1), count)};
  const Tensor places = Tensor::empty(results[0].sizes(), DType::i64);
  visit_kernel_dtype(dtype, [&](auto type) {
    find_places<typename decltype(type)::type>(input, places, cells);
  });
  results[0].copy_from(places);
}

template <int kSpatial>
Value pool_with_indices(const OpCall& call) {
  const std::string end = std::to_string(kSpatial) + "d";
  const Value values = call_row("adaptive_max_pool" + end, {call[0], call[1]});
  const Dims all = meta_of(values).sizes();
  Dims cells;
  for (int d = all.size() - kSpatial; d < all.size(); ++d)
    cells.push_back(all[d]);
  return Value::tuple({values, call_row("fxjit.adaptive_max_places" + end,
                                        {call[0], Value(cells)})});
}

constexpr OpRow places_row(const char* name, Layout layout) {
  return direct_row(name, "input, output_size", "", infer_places, run_places)
      .stating({.layout = layout});
}

constexpr OpRow kAdaptiveMaxPlacesRows[] = {
    inlined_row("adaptive_max_pool1d_with_indices", "input, output_size",
                "F.adaptive_max_pool1d_with_indices!", pool_with_indices<1>),
    inlined_row("adaptive_max_pool2d_with_indices", "input, output_size",
                "F.adaptive_max_pool2d_with_indices!", pool_with_indices<2>),
    inlined_row("adaptive_max_pool3d_with_indices", "input, output_size",
                "F.adaptive_max_pool3d_with_indices!", pool_with_indices<3>),
    places_row("fxjit.adaptive_max_places1d", Layout::line),
    places_row("fxjit.adaptive_max_places2d", Layout::image),
    places_row("fxjit.adaptive_max_places3d", Layout::stated),
};

}  // namespace

std::span<const OpRow> adaptive_max_place_rows() {
  return kAdaptiveMaxPlacesRows;
}

}  // namespace fxjit::ops
