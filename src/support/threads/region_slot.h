// One parallel region of the thread pool. The caller that owns the slot
// publishes the region, idle workers join it, and the slot is reused for the
// next region. Knows nothing of threads and sleeping. Used by thread_pool.cpp
// only.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "fxjit/thread_pool.h"
#include "src/support/threads/claim_word.h"
#include "src/support/threads/spin_timer.h"

namespace fxjit::support {

struct RegionWork {
  ThreadPool::TaskFn fn = nullptr;
  void* context = nullptr;
  int64_t tasks = 0;
  int64_t chunk = 1;   // Tasks per chunk.
  int64_t chunks = 0;  // At most ClaimWord::kMaxChunks.
  int threads = 1;     // Most participants, the owner included.

  void run_chunk(int64_t index, int thread_index) const;
};

class RegionSlot {
 public:
  // For callers. own() returns false if another caller holds the slot. The
  // owner calls open(), run() and then disown().
  bool own();
  void disown() { owned_.store(false, std::memory_order_release); }
  // Makes the region visible to workers. Chunk 0 belongs to the owner.
  // Sequentially consistent with what the owner does next, which is to look for
  // sleepers.
  void open(const RegionWork& work);
  // Runs the owner's share of the work, then waits for the chunks that others
  // have claimed. It polls for the time `spin` and then sleeps; it sleeps at
  // once if `polling_hurts()` is true.
  template <typename PollingHurts>
  void run_owner(const RegionWork& work, std::chrono::nanoseconds spin,
                 const PollingHurts& polling_hurts);

  // For workers. look() is cheap. run_worker(seen) tries to join the region
  // that `seen` shows and returns whether it did. It fails if the word has
  // changed since; the worker then looks again.
  ClaimWord look() const {
    return ClaimWord(claim_.load(std::memory_order_seq_cst));
  }
  bool joinable(ClaimWord seen) const {
    return seen.open() &&
           seen.joined() < threads_.load(std::memory_order_relaxed);
  }
  bool run_worker(ClaimWord seen);
  // The CPU on which the latest region was opened, a negative number before.
  int owner_cpu() const { return owner_cpu_.load(std::memory_order_relaxed); }

 private:
  // Distance between data that different threads write: two cache lines,
  // because processors prefetch lines in pairs.
  static constexpr int kApart = 128;
  // Low bit of finished_: the owner sleeps on it.
  static constexpr uint32_t kOwnerSleeps = 1;
  static constexpr uint32_t kOneFinished = 2;

  RegionWork load_work() const;
  // Claims and runs chunks as thread `index` until none is left. The first one,
  // `held`, is claimed already. Returns how many chunks it ran.
  int64_t run_chunks(const RegionWork& work, int index, int64_t held);
  // Whether workers have finished `chunks` chunks of this region.
  bool finished(uint32_t seen, int64_t chunks) const {
    return (seen - base_) / kOneFinished == static_cast<uint32_t>(chunks);
  }
  void sleep_until_finished(int64_t chunks);

  // Only the owner writes this, and only while the region is closed (low ==
  // high). A worker may read it half written. Its claim succeeds only if the
  // claim word has not changed since before it read; then it has read the
  // values of the open region.
  alignas(kApart) std::atomic<uint64_t> claim_{0};
  std::atomic<ThreadPool::TaskFn> fn_{nullptr};
  std::atomic<void*> context_{nullptr};
  std::atomic<int64_t> tasks_{0};
  std::atomic<int64_t> chunk_{1};
  std::atomic<int> threads_{0};
  std::atomic<bool> in_section_{false};  // The owner is inside a section.
  std::atomic<int> owner_cpu_{-1};

  // Chunks finished by workers since the pool began, times two, modulo 2^32.
  alignas(kApart) std::atomic<uint32_t> finished_{0};

  alignas(kApart) std::atomic<bool> owned_{false};
  uint32_t epoch_ = 0;  // The owner's, as the next: finished_ at open().
  uint32_t base_ = 0;
};

template <typename PollingHurts>
void RegionSlot::run_owner(const RegionWork& work,
                           std::chrono::nanoseconds spin,
                           const PollingHurts& polling_hurts) {
  int64_t others = work.chunks - run_chunks(work, 0, 0);
  if (others == 0) return;
  SpinTimer timer(spin);
  while (!finished(finished_.load(std::memory_order_acquire), others)) {
    if (timer.pause() && (timer.expired() || polling_hurts()))
      return sleep_until_finished(others);
  }
}

}  // namespace fxjit::support
