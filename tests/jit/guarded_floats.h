// Floats for tests that run kernels on blocks with guarded pages behind them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "tests/support/guarded_bytes.h"

namespace fxjit::jit::testing {

// What results hold before a kernel writes them.
constexpr float kCanary = 123.5f;

inline std::vector<float> randoms(int64_t elements, uint32_t seed) {
  std::vector<float> values(static_cast<size_t>(elements));
  std::mt19937 random(seed);
  std::normal_distribution<float> value;
  std::generate(values.begin(), values.end(), [&] { return value(random); });
  return values;
}

template <typename T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

inline std::vector<float> floats_of(const support::GuardedBytes& block) {
  const auto* first = reinterpret_cast<const float*>(block.data());
  return {first, first + block.size() / sizeof(float)};
}

}  // namespace fxjit::jit::testing
