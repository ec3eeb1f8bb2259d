#include "src/support/memory/block_pool.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>

#include "fxjit/error.h"
#include "src/support/memory/aligned_block.h"
#include "src/support/threads/section.h"
#include "src/support/threads/spin_timer.h"

namespace fxjit::support {
namespace {

constexpr size_t kUnit = 64;
constexpr int kStepBits = 3;  // Eight classes per power of two.
constexpr int kSteps = 1 << kStepBits;
constexpr size_t kMaxBytes = size_t{1} << 46;
// A free block of up to so many larger classes, which has less than half as
// many bytes more, serves as well: calls of many sizes would otherwise leave a
// block of each class.
constexpr int kLarger = 3;
constexpr int kClasses = 330;  // Up to kMaxBytes, see the assertion below.

// Classes 1..8 are 64..512; class 8 + i of the octave starting at 512 << o is
// (512 << o) * (1 + i/8).
constexpr int size_class_of(size_t bytes) {
  size_t units = std::max<size_t>((bytes + kUnit - 1) / kUnit, 1);
  if (units <= kSteps) return static_cast<int>(units);
  int octave = std::bit_width(units - 1) - 1 - kStepBits;
  size_t step = (units - 1) >> octave;  // In [8, 16).
  return octave * kSteps + static_cast<int>(step) + 1;
}

constexpr size_t class_bytes(int size_class) {
  if (size_class <= kSteps) return kUnit * size_class;
  int octave = (size_class - 1) / kSteps - 1;
  size_t step = (size_class - 1) % kSteps + kSteps + 1;
  return (kUnit * step) << octave;
}

static_assert(size_class_of(kMaxBytes) < kClasses);
static_assert(class_bytes(size_class_of(kMaxBytes)) >= kMaxBytes);

struct Block {
  static constexpr size_t kOwnershipBytes = 48;

  BlockPoolState& pool;
  const int size_class;
  AlignedBlock storage;
  Block* next = nullptr;  // In the free list.
  // What std::shared_ptr counts the owners in, so that it allocates nothing.
  alignas(std::max_align_t) std::array<std::byte, kOwnershipBytes> ownership{};

  size_t capacity() const { return storage.size(); }
};

// A free list. Its lock is held for a few instructions and is no section: if a
// fork finds the list half changed, the child loses one block at most.
struct FreeList {
  std::atomic<bool> locked{false};
  Block* head = nullptr;
};

class ListLock {
 public:
  explicit ListLock(FreeList& list) : list_(list) {
    for (int polls = 0; list_.locked.exchange(true, std::memory_order_acquire);
         ++polls) {
      // A holder that lost its CPU needs ours.
      polls < kPollsBeforeYield ? cpu_pause() : std::this_thread::yield();
    }
  }
  ~ListLock() { list_.locked.store(false, std::memory_order_release); }
  ListLock(const ListLock&) = delete;
  ListLock& operator=(const ListLock&) = delete;

 private:
  static constexpr int kPollsBeforeYield = 64;
  FreeList& list_;
};

}  // namespace

// The part of a pool that its blocks refer to. It lives until the pool and its
// last block are gone; `references` counts both.
class BlockPoolState {
 public:
  explicit BlockPoolState(size_t max_cached_bytes) : max_(max_cached_bytes) {}

  Block* acquire(size_t bytes);
  void give_back(Block* block);
  void stop_caching();
  void close();
  size_t cached_bytes() const {
    return cached_.load(std::memory_order_relaxed);
  }

 private:
  ~BlockPoolState() = default;

  Block* pop(int size_class);
  bool push(Block* block);
  void trim(size_t target_bytes);
  void destroy(Block* block);
  void drop_reference();
  void unlock_in_child() {
    for (FreeList& list : lists_) list.locked = false;
  }

  const size_t max_;
  std::atomic<size_t> cached_{0};
  std::atomic<size_t> references_{1};
  std::atomic<bool> closed_{false};
  std::atomic<uint32_t> trim_hand_{0};
  std::array<FreeList, kClasses> lists_;
  const ForkReset fork_reset_{
      [](void* self) { static_cast<BlockPoolState*>(self)->unlock_in_child(); },
      this};
};

Block* BlockPoolState::acquire(size_t bytes) {
  if (bytes > kMaxBytes)
    throw RuntimeError("[memory] output block: expected at most " +
                       std::to_string(kMaxBytes) + " bytes, got " +
                       std::to_string(bytes));
  int size_class = size_class_of(bytes);
  const int largest = size_class < kSteps
                          ? size_class
                          : std::min(size_class + kLarger, kClasses - 1);
  for (int larger = size_class; larger <= largest; ++larger)
    if (Block* block = pop(larger)) return block;
  Block* block =
      new Block{*this, size_class, AlignedBlock(class_bytes(size_class))};
  references_.fetch_add(1, std::memory_order_relaxed);
  return block;
}

void BlockPoolState::give_back(Block* block) {
  size_t bytes = block->capacity();
  if (bytes > max_) return destroy(block);
  // Frees blocks of other sizes if the cache is full. Those of a shape that is
  // no longer used would otherwise stay for ever.
  if (cached_bytes() + bytes > max_) trim(max_ - bytes);
  if (!push(block)) destroy(block);
}

Block* BlockPoolState::pop(int size_class) {
  FreeList& list = lists_[size_class];
  ListLock lock(list);
  Block* block = list.head;
  if (block == nullptr) return nullptr;
  list.head = std::exchange(block->next, nullptr);
  cached_.fetch_sub(block->capacity(), std::memory_order_relaxed);
  return block;
}

// False when the pool is closed or the bytes were taken by others meanwhile.
bool BlockPoolState::push(Block* block) {
  size_t bytes = block->capacity();
  if (cached_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= max_) {
    FreeList& list = lists_[block->size_class];
    ListLock lock(list);
    // stop_caching() sets the flag before it empties this list under the lock.
    if (!closed_.load(std::memory_order_relaxed)) {
      block->next = std::exchange(list.head, block);
      return true;
    }
  }
  cached_.fetch_sub(bytes, std::memory_order_relaxed);
  return false;
}

void BlockPoolState::trim(size_t target_bytes) {
  for (int i = 0; i < kClasses && cached_bytes() > target_bytes; ++i) {
    uint32_t hand = trim_hand_.fetch_add(1, std::memory_order_relaxed);
    int size_class = static_cast<int>(hand % kClasses);
    while (cached_bytes() > target_bytes) {
      Block* block = pop(size_class);
      if (block == nullptr) break;
      destroy(block);
    }
  }
}

void BlockPoolState::stop_caching() {
  closed_.store(true, std::memory_order_relaxed);
  for (int size_class = 0; size_class < kClasses; ++size_class)
    while (Block* block = pop(size_class)) destroy(block);
}

void BlockPoolState::close() {
  stop_caching();
  drop_reference();
}

void BlockPoolState::destroy(Block* block) {
  delete block;
  drop_reference();
}

void BlockPoolState::drop_reference() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

BlockPool::BlockPool(size_t max_cached_bytes)
    : state_(new BlockPoolState(max_cached_bytes)) {}

BlockPool::~BlockPool() { state_->close(); }

namespace {

// Places the count of a block's owners in the block, and gives the block back
// when nobody needs the count any more, which is after its last owner has gone.
template <typename T>
struct InBlock {
  using value_type = T;

  explicit InBlock(Block* block) : block(block) {}
  template <typename U>
  InBlock(const InBlock<U>& other) : block(other.block) {}  // NOLINT

  T* allocate(size_t) {
    static_assert(sizeof(T) <= Block::kOwnershipBytes);
    return reinterpret_cast<T*>(block->ownership.data());
  }
  void deallocate(T*, size_t) { block->pool.give_back(block); }
  template <typename U>
  bool operator==(const InBlock<U>& other) const {
    return block == other.block;
  }

  Block* block;
};

}  // namespace

std::shared_ptr<std::byte> BlockPool::acquire(size_t bytes) {
  Block* const block = state_->acquire(bytes);
  return {block->storage.data(), [](std::byte*) {}, InBlock<std::byte>(block)};
}

size_t BlockPool::cached_bytes() const { return state_->cached_bytes(); }

void BlockPool::stop_caching() { state_->stop_caching(); }

size_t block_bytes(size_t bytes) { return class_bytes(size_class_of(bytes)); }

}  // namespace fxjit::support
