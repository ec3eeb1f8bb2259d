// Memory of this process that files do not stand for.
#pragma once

#include <malloc.h>

#include <cstddef>
#include <fstream>
#include <string>

namespace fxjit::testing {

// Bytes; without what files are mapped to, as the library's code and weights,
// and without what the heap has free, which differs from machine to machine.
inline size_t anonymous_memory() {
  malloc_trim(0);
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word && word != "RssAnon:") {
  }
  size_t kilobytes = 0;
  status >> kilobytes;
  return kilobytes << 10;
}

}  // namespace fxjit::testing
