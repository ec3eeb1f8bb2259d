#include "src/support/threads/region_slot.h"

#include <sched.h>

#include <algorithm>

#include "src/support/threads/futex.h"
#include "src/support/threads/section.h"

namespace fxjit::support {

void RegionWork::run_chunk(int64_t index, int thread_index) const {
  int64_t begin = index * chunk;
  fn(context, begin, begin + std::min(chunk, tasks - begin), thread_index);
}

bool RegionSlot::own() {
  return !owned_.load(std::memory_order_relaxed) &&
         !owned_.exchange(true, std::memory_order_acquire);
}

void RegionSlot::open(const RegionWork& work) {
  fn_.store(work.fn, std::memory_order_relaxed);
  context_.store(work.context, std::memory_order_relaxed);
  tasks_.store(work.tasks, std::memory_order_relaxed);
  chunk_.store(work.chunk, std::memory_order_relaxed);
  threads_.store(work.threads, std::memory_order_relaxed);
  in_section_.store(in_section(), std::memory_order_relaxed);
  owner_cpu_.store(sched_getcpu(), std::memory_order_relaxed);
  base_ = finished_.load(std::memory_order_relaxed);
  claim_.exchange(ClaimWord::opened(++epoch_, work.chunks).bits(),
                  std::memory_order_seq_cst);
}

RegionWork RegionSlot::load_work() const {
  RegionWork work;
  work.fn = fn_.load(std::memory_order_relaxed);
  work.context = context_.load(std::memory_order_relaxed);
  work.tasks = tasks_.load(std::memory_order_relaxed);
  work.chunk = chunk_.load(std::memory_order_relaxed);
  return work;
}

int64_t RegionSlot::run_chunks(const RegionWork& work, int index,
                               int64_t held) {
  // What this thread has run is not yet counted, so the owner cannot leave and
  // the word stays in this epoch.
  int64_t done = 0;
  for (;;) {
    work.run_chunk(held, index);
    ++done;
    uint64_t bits = claim_.load(std::memory_order_relaxed);
    ClaimWord seen(bits);
    do {
      seen = ClaimWord(bits);
      if (!seen.open()) return done;
      held = seen.next_chunk(index);
    } while (!claim_.compare_exchange_weak(bits, seen.claimed(index).bits(),
                                           std::memory_order_relaxed));
  }
}

bool RegionSlot::run_worker(ClaimWord seen) {
  if (!joinable(seen)) return false;
  RegionWork work = load_work();
  const bool helps = in_section_.load(std::memory_order_relaxed);
  int index = seen.joined();
  uint64_t bits = seen.bits();
  if (!claim_.compare_exchange_strong(bits,
                                      seen.with_joined().claimed(index).bits(),
                                      std::memory_order_acq_rel))
    return false;
  const HelperScope helper(helps);
  auto done =
      static_cast<uint32_t>(run_chunks(work, index, seen.next_chunk(index)));
  // From here on the owner may leave and open the next region.
  uint32_t before =
      finished_.fetch_add(done * kOneFinished, std::memory_order_acq_rel);
  if (before & kOwnerSleeps) futex_wake(finished_, 1);
  return true;
}

void RegionSlot::sleep_until_finished(int64_t chunks) {
  finished_.fetch_or(kOwnerSleeps, std::memory_order_relaxed);
  for (;;) {
    uint32_t seen = finished_.load(std::memory_order_acquire);
    if (finished(seen, chunks)) break;
    futex_wait(finished_, seen);
  }
  finished_.fetch_and(~kOwnerSleeps, std::memory_order_relaxed);
}

}  // namespace fxjit::support
