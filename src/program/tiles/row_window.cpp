#include "src/program/tiles/row_window.h"

#include <array>
#include <vector>

namespace fxjit::program {
namespace {

using Three = std::array<int64_t, 3>;

Three three(const Dims& dims, int first = 0) {
  return {dims[first], dims[first + 1], dims[first + 2]};
}

// A window's numbers as plain ones.
struct Walk {
  explicit Walk(const RowWindow& window)
      : places(three(window.places)),
        sizes(three(window.sizes)),
        taps(three(window.taps)),
        strides(three(window.strides)),
        dilations(three(window.dilations)),
        pads(three(window.pads)),
        steps(three(window.steps, 1)) {
    for (int64_t i = 0; i < taps[0]; ++i)
      for (int64_t j = 0; j < taps[1]; ++j)
        for (int64_t k = 0; k < taps[2]; ++k)
          offsets.push_back(i * dilations[0] * steps[0] +
                            j * dilations[1] * steps[1] +
                            k * dilations[2] * steps[2]);
  }

  // Where tap `tap` of place `at` lies along a dim, or -1 outside.
  int64_t place_of(size_t dim, int64_t at, int64_t tap) const {
    const int64_t place = first_of(dim, at) + tap * dilations[dim];
    return place >= 0 && place < sizes[dim] ? place : -1;
  }

  // Where the first tap of place `at` lies along a dim.
  int64_t first_of(size_t dim, int64_t at) const {
    return at * strides[dim] - pads[dim];
  }
  // Whether all taps of the place are in the image.
  bool is_inside(const Three& place) const {
    for (size_t dim = 0; dim < 3; ++dim) {
      const int64_t first = first_of(dim, place[dim]);
      const int64_t last = first + (taps[dim] - 1) * dilations[dim];
      if (first < 0 || last >= sizes[dim]) return false;
    }
    return true;
  }

  // Stores the addresses of one place's taps, and gives where the next go.
  const float** find(const float* image, const float* outside,
                     const Three& place, const float** addresses) const {
    if (!is_inside(place)) return find_each(image, outside, place, addresses);
    for (size_t dim = 0; dim < 3; ++dim)
      image += first_of(dim, place[dim]) * steps[dim];
    for (int64_t offset : offsets) *addresses++ = image + offset;
    return addresses;
  }

  const float** find_each(const float* image, const float* outside,
                          const Three& place, const float** addresses) const {
    for (int64_t i = 0; i < taps[0]; ++i) {
      const int64_t z = place_of(0, place[0], i);
      for (int64_t j = 0; j < taps[1]; ++j) {
        const int64_t y = place_of(1, place[1], j);
        for (int64_t k = 0; k < taps[2]; ++k) {
          const int64_t x = place_of(2, place[2], k);
          *addresses++ =
              z < 0 || y < 0 || x < 0
                  ? outside
                  : image + z * steps[0] + y * steps[1] + x * steps[2];
        }
      }
    }
    return addresses;
  }

  // Goes on to the next place. Whether it is one of the next image.
  bool next(Three& place) const {
    for (size_t dim = 3; dim-- > 0;) {
      if (++place[dim] < places[dim]) return false;
      place[dim] = 0;
    }
    return true;
  }

  Three places, sizes, taps, strides, dilations, pads, steps;
  std::vector<int64_t> offsets;  // Of the taps of a place in the image.
};

}  // namespace

void find_rows(const RowWindow& window, const float* image,
               const float* outside, int64_t first, int64_t count,
               const float** addresses) {
  const Walk walk(window);
  const auto [depth, height, width] = walk.places;
  Three place{first / width / height % depth, first / width % height,
              first % width};
  const int64_t image_step = window.steps[0];
  image += first / width / height / depth * image_step;
  for (int64_t row = 0; row < count; ++row) {
    addresses = walk.find(image, outside, place, addresses);
    if (walk.next(place)) image += image_step;
  }
}

}  // namespace fxjit::program
