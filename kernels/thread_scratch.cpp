#include "kernels/thread_scratch.h"

#include "src/support/memory/aligned_block.h"

namespace fxjit::kernels {

std::byte* thread_scratch(size_t bytes) {
  thread_local support::AlignedBlock block;
  const bool too_large =
      block.size() > kKeptScratchBytes && bytes <= kKeptScratchBytes;
  if (block.size() < bytes || too_large) {
    block = support::AlignedBlock();
    block = support::AlignedBlock(bytes);
  }
  return block.data();
}

}  // namespace fxjit::kernels
