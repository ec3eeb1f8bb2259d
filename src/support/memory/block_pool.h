// Recycled blocks for the outputs of compiled calls. An output is never
// overwritten while somebody holds it; a released block waits in a free list of
// its size class, so a repeated call allocates nothing.
// Called by Executable::run; a block may outlive its pool.
#pragma once

#include <cstddef>
#include <memory>

namespace fxjit::support {

class BlockPoolState;

class BlockPool {
 public:
  // Keeps at most `max_cached_bytes` in free blocks; those in use do not count.
  explicit BlockPool(size_t max_cached_bytes);
  // Frees the cached blocks. Blocks in use live on and are freed with their
  // last owner. No acquire may be running.
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // A block of at least `bytes` bytes, aligned as AlignedBlock, of undefined
  // content. Its last owner gives it back, or frees it when the pool is gone or
  // full. Thread-safe. Throws RuntimeError when there is no memory.
  std::shared_ptr<std::byte> acquire(size_t bytes);

  size_t cached_bytes() const;
  // Frees all cached blocks; from now on blocks are freed with their last
  // owner. Thread-safe.
  void stop_caching();

 private:
  BlockPoolState* state_;
};

// What a block for `bytes` bytes takes, at most an eighth more (or 64 bytes): a
// multiple of 64 up to 512 bytes, then one of eight sizes per power of two.
size_t block_bytes(size_t bytes);

}  // namespace fxjit::support
