// Numbers that several families of ops name.
#pragma once

#include <limits>
#include <numbers>

namespace fxjit::ops {

inline constexpr double kPi = std::numbers::pi;
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace fxjit::ops
