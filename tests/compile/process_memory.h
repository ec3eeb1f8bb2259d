// Memory of this process that files do not stand for.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>

namespace fxjit::testing {

// Bytes; without what files are mapped to, as the library's code and weights.
inline size_t anonymous_memory() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word && word != "RssAnon:") {
  }
  size_t kilobytes = 0;
  status >> kilobytes;
  return kilobytes << 10;
}

}  // namespace fxjit::testing
