// What windows make of their elements: said by lowering in an argument of
// window_op(), read by the planner and the code generator.
#pragma once

#include <cstdint>

namespace fxjit::passes {

// What is made of the elements under a window.
enum class WindowCombine : uint8_t {
  products,  // The sum of their products with the weights.
  sums,
  maximum,  // NaN if there is one.
};

// Planes under windows of so many taps, as many planes and columns as vectors
// have lanes, are turned on the way.
constexpr int64_t kLeastTurnedTaps = 25;

}  // namespace fxjit::passes
