// The most memory that the machine can ever give. Linux grants addresses beyond
// it and ends the process when it uses them, so larger requests are refused
// before they are made.
#pragma once

#include <cstddef>

namespace fxjit::support {

// Main memory and swap.
size_t memory_bytes();

// RuntimeError where `bytes` are more than memory_bytes().
void check_memory(size_t bytes);

}  // namespace fxjit::support
