// How much memory the machine can ever give. The system grants addresses for
// more and ends processes that use them, so that requests beyond it are refused
// before they are made.
#pragma once

#include <cstddef>

namespace fxjit::support {

// Main memory and swap.
size_t memory_bytes();

// RuntimeError where `bytes` are more than memory_bytes().
void check_memory(size_t bytes);

}  // namespace fxjit::support
