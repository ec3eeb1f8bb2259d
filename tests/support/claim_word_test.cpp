#include "src/support/threads/claim_word.h"

#include <gtest/gtest.h>

#include <set>

#include "fxjit/thread_pool.h"

namespace fxjit::support {
namespace TEST_FILE {

static_assert(ClaimWord::kMaxChunks == ThreadPool::kMaxChunks);
static_assert(ClaimWord::kMaxThreads == ThreadPool::kMaxThreads);

TEST(ClaimWord, OwnerHoldsTheFirstChunk) {
  ClaimWord word = ClaimWord::opened(7, 5);
  EXPECT_EQ(word.bits() >> 32, 7u);
  EXPECT_EQ(word.joined(), 1);
  EXPECT_EQ(word.low(), 1);
  EXPECT_EQ(word.high(), 5);
  EXPECT_TRUE(word.open());
}

TEST(ClaimWord, ASingleChunkIsClosedAtOnce) {
  EXPECT_FALSE(ClaimWord::opened(1, 1).open());
  EXPECT_FALSE(ClaimWord(0).open());
}

TEST(ClaimWord, EvenThreadsTakeFromBelowAndOddFromAbove) {
  ClaimWord word = ClaimWord::opened(1, 10);
  EXPECT_EQ(word.next_chunk(0), 1);
  EXPECT_EQ(word.next_chunk(1), 9);
  EXPECT_EQ(word.claimed(0).low(), 2);
  EXPECT_EQ(word.claimed(0).high(), 10);
  EXPECT_EQ(word.claimed(1).low(), 1);
  EXPECT_EQ(word.claimed(1).high(), 9);
}

TEST(ClaimWord, EveryChunkIsClaimedOnceAtTheLimits) {
  ClaimWord word = ClaimWord::opened(UINT32_MAX, ClaimWord::kMaxChunks);
  std::set<int64_t> claimed{0};
  for (int index = 0; word.open(); index = (index * 5 + 3) % 255) {
    EXPECT_TRUE(claimed.insert(word.next_chunk(index)).second);
    word = word.claimed(index);
  }
  EXPECT_EQ(claimed.size(), static_cast<size_t>(ClaimWord::kMaxChunks));
  EXPECT_EQ(word.bits() >> 32, UINT32_MAX);
  EXPECT_EQ(word.joined(), 1);
}

TEST(ClaimWord, JoiningChangesTheThreadCountOnly) {
  ClaimWord word = ClaimWord::opened(3, 9);
  for (int i = 1; i < ClaimWord::kMaxThreads; ++i) word = word.with_joined();
  EXPECT_EQ(word.joined(), ClaimWord::kMaxThreads);
  EXPECT_EQ(word.low(), 1);
  EXPECT_EQ(word.high(), 9);
  EXPECT_EQ(word.bits() >> 32, 3u);
}

}  // namespace TEST_FILE
}  // namespace fxjit::support
