// Weights of resizing with antialiasing: where an image shrinks, the filter
// grows with the step between samples, so that no element goes unseen.
#pragma once

#include <cstdint>
#include <vector>

namespace fxjit::ops {

// The matrix [to, from], row-major, by which a line of `from` elements becomes
// one of `to`, `step` source elements each: a triangle, or Keys' cubic of -1/2.
// Computed in float or double, as torch does for images of the type.
template <typename C>
std::vector<C> antialias_weights(int64_t from, int64_t to, C step, bool cubic);

extern template std::vector<float> antialias_weights(int64_t, int64_t, float,
                                                     bool);
extern template std::vector<double> antialias_weights(int64_t, int64_t, double,
                                                      bool);

}  // namespace fxjit::ops
