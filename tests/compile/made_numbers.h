// Weights and inputs that are not committed: numbers made from names, which the
// make_*_reference.py of this folder make likewise.
#pragma once

#include <cstdint>
#include <string_view>

namespace fxjit::testing {

// One of 2001 numbers from -1 to 1.
inline double made_number(std::string_view name, uint32_t i) {
  uint32_t h = 2166136261;
  for (char c : name) h = (h ^ static_cast<uint8_t>(c)) * 16777619;
  h += i * 2654435761u;
  h ^= h >> 15;
  h *= 2246822519u;
  h ^= h >> 13;
  return (static_cast<double>(h % 2001) - 1000) / 1000;
}

}  // namespace fxjit::testing
