// Memory that a call of a program has to itself while it runs. Nothing in it
// outlives the call, so all programs of a process share a few blocks: a program
// for new sizes needs no fresh pages, and many programs take no more memory
// than the largest of them.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <set>

#include "src/support/memory/aligned_block.h"
#include "src/support/memory/spare_slots.h"

namespace fxjit::support {

// Thread-safe; taking and giving back is lock-free and allocates nothing as
// long as calls of the same needs follow each other.
class WorkingMemory {
 public:
  // That of the process, which lives as long as somebody holds it.
  static std::shared_ptr<WorkingMemory> shared();

  // Calls that need so many bytes may come, until `forget` is called with the
  // same number. Blocks that no such call needs are not kept.
  void expect(size_t bytes);
  void forget(size_t bytes);

  // At least `bytes` bytes of undefined content. RuntimeError when there is no
  // memory.
  std::unique_ptr<AlignedBlock> take(size_t bytes);
  void give(std::unique_ptr<AlignedBlock> block);

 private:
  // Calls beyond this many at a time have blocks that are not kept.
  static constexpr int kKept = 16;

  size_t most_kept() const;
  void drop_large();

  std::mutex mutex_;
  std::multiset<size_t> needs_;     // Guarded by mutex_.
  std::atomic<size_t> largest_{0};  // Of the needs.
  SpareSlots<AlignedBlock, kKept> kept_;
};

}  // namespace fxjit::support
