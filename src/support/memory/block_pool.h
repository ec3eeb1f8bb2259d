// Recycled, reference-counted blocks for the outputs of compiled calls. An
// output is never overwritten while somebody holds it; a released block waits
// in a free list of its size class, so a repeated call allocates nothing.
// Called by Executable::run; a block may outlive its pool.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "src/support/memory/aligned_block.h"

namespace fxjit::support {

class BlockPoolState;

// One block. Made by BlockPool only; starts with one reference.
class Block {
 public:
  std::byte* data() const { return storage_.data(); }
  size_t capacity() const { return storage_.size(); }

  // Thread-safe. The last release gives the block back to its pool, or frees
  // it when the pool is gone or full.
  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release();
  // Whether the caller's reference is the only one.
  bool unique() const {
    return references_.load(std::memory_order_acquire) == 1;
  }

 private:
  friend class BlockPoolState;
  Block(BlockPoolState& pool, int size_class, size_t bytes);
  ~Block() = default;

  std::atomic<uint32_t> references_{1};
  const int size_class_;
  BlockPoolState& pool_;
  Block* next_ = nullptr;  // In the free list.
  AlignedBlock storage_;
};

// Holds one reference to a block, or none.
class BlockRef {
 public:
  BlockRef() = default;
  // Takes over the caller's reference.
  explicit BlockRef(Block* block) : block_(block) {}
  ~BlockRef() {
    if (block_ != nullptr) block_->release();
  }
  BlockRef(const BlockRef& other) : block_(other.block_) {
    if (block_ != nullptr) block_->retain();
  }
  BlockRef(BlockRef&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)) {}
  BlockRef& operator=(BlockRef other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }

  Block* get() const { return block_; }
  Block* operator->() const { return block_; }
  explicit operator bool() const { return block_ != nullptr; }

 private:
  Block* block_ = nullptr;
};

class BlockPool {
 public:
  // Keeps at most `max_cached_bytes` in free blocks; those in use do not count.
  explicit BlockPool(size_t max_cached_bytes);
  // Frees the cached blocks. Blocks in use live on and are freed at their last
  // release. No acquire may be running.
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // A block of at least `bytes` bytes, aligned as AlignedBlock, of undefined
  // content, at most an eighth larger (or 64 bytes), holding one reference for
  // the caller. Thread-safe. Throws RuntimeError when there is no memory.
  Block* acquire(size_t bytes);

  size_t cached_bytes() const;
  // Frees all cached blocks. Thread-safe.
  void trim();
  // The same, and from now on blocks are freed at their last release.
  void stop_caching();

 private:
  BlockPoolState* state_;
};

// Size classes: multiples of 64 up to 512 bytes, then eight per power of two.
// For BlockPool and its tests.
int block_size_class(size_t bytes);
size_t block_class_bytes(int size_class);

}  // namespace fxjit::support
