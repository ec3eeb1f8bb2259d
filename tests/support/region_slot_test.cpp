// The slot alone, both sides played by one thread: what no timing can show.
#include "src/support/threads/region_slot.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace fxjit::support {
namespace TEST_FILE {

using Calls = std::vector<std::pair<int64_t, int>>;  // Begin, thread index.

void record(void* context, int64_t begin, int64_t, int thread) {
  static_cast<Calls*>(context)->emplace_back(begin, thread);
}

RegionWork recorded(Calls& calls, int64_t chunks, int threads = 2) {
  return {.fn = record,
          .context = &calls,
          .tasks = chunks,
          .chunk = 1,
          .chunks = chunks,
          .threads = threads};
}

void run_owner(RegionSlot& slot, const RegionWork& work) {
  slot.run_owner(work, std::chrono::seconds(1), [] { return false; });
}

TEST(RegionSlot, HasOneOwnerAtATime) {
  RegionSlot slot;
  EXPECT_TRUE(slot.own());
  EXPECT_FALSE(slot.own());
  slot.disown();
  EXPECT_TRUE(slot.own());
}

TEST(RegionSlot, AWorkerTakesFromTheOtherEnd) {
  RegionSlot slot;
  Calls calls;
  RegionWork work = recorded(calls, 4);
  EXPECT_FALSE(slot.joinable(slot.look()));
  slot.open(work);
  EXPECT_TRUE(slot.run_worker(slot.look()));
  run_owner(slot, work);
  EXPECT_EQ(calls, (Calls{{3, 1}, {2, 1}, {1, 1}, {0, 0}}));
  EXPECT_FALSE(slot.run_worker(slot.look()));
}

TEST(RegionSlot, ALateWorkerClaimsNothingOfTheNextRegion) {
  RegionSlot slot;
  Calls first;
  Calls second;
  RegionWork work = recorded(first, 4);
  slot.open(work);
  ClaimWord stale = slot.look();
  run_owner(slot, work);
  EXPECT_FALSE(slot.run_worker(stale));
  RegionWork next = recorded(second, 4);
  slot.open(next);
  EXPECT_FALSE(slot.run_worker(stale));  // Alike in all but the epoch.
  EXPECT_TRUE(second.empty());
  run_owner(slot, next);
  EXPECT_EQ(first.size(), 4u);
  EXPECT_EQ(second.size(), 4u);
}

// A task that lets further workers look at the region while it runs.
struct Crowd {
  RegionSlot slot;
  int joined = 0;
};

TEST(RegionSlot, AdmitsNoMoreThanItsThreads) {
  Crowd crowd;
  RegionWork work{.fn =
                      [](void* context, int64_t, int64_t, int) {
                        auto& crowd = *static_cast<Crowd*>(context);
                        ClaimWord seen = crowd.slot.look();
                        if (crowd.slot.run_worker(seen)) ++crowd.joined;
                      },
                  .context = &crowd,
                  .tasks = 100,
                  .chunk = 1,
                  .chunks = 100,
                  .threads = 3};
  crowd.slot.open(work);
  run_owner(crowd.slot, work);
  EXPECT_EQ(crowd.joined, 2);
}

}  // namespace TEST_FILE
}  // namespace fxjit::support
