#include "src/support/memory/block_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "fxjit/error.h"

namespace fxjit::support {
namespace TEST_FILE {

constexpr size_t kCap = size_t{64} << 20;

TEST(BlockPool, SizeClassesCoverEverySizeTightly) {
  for (size_t bytes = 0; bytes < 100000; ++bytes) {
    size_t capacity = block_bytes(bytes);
    ASSERT_GE(capacity, bytes);
    ASSERT_LE(capacity, std::max(bytes + 64, bytes + bytes / 8)) << bytes;
    ASSERT_EQ(block_bytes(capacity), capacity) << bytes;
  }
  for (size_t bytes = 100000; bytes < size_t{1} << 45; bytes += bytes / 13) {
    size_t capacity = block_bytes(bytes);
    ASSERT_GE(capacity, bytes);
    ASSERT_LE(capacity, bytes + bytes / 8) << bytes;
  }
}

using BlockRef = std::shared_ptr<std::byte>;

TEST(BlockPool, ReusesAReleasedBlockOfTheClass) {
  BlockPool pool(kCap);
  BlockRef first = pool.acquire(1000);
  std::byte* data = first.get();
  EXPECT_EQ(pool.cached_bytes(), 0u);
  first.reset();
  EXPECT_EQ(pool.cached_bytes(), block_bytes(1000));
  BlockRef second = pool.acquire(1010);
  EXPECT_EQ(second.get(), data);
  EXPECT_EQ(pool.cached_bytes(), 0u);
}

TEST(BlockPool, AFreeBlockServesSizesThatAreLittleSmaller) {
  BlockPool pool(1 << 20);
  std::byte* data = pool.acquire(4000).get();
  EXPECT_EQ(pool.acquire(3300).get(), data);
  EXPECT_EQ(pool.cached_bytes(), block_bytes(4000));
  BlockRef less(pool.acquire(2000));  // Would waste half of it.
  EXPECT_EQ(pool.cached_bytes(), block_bytes(4000));
  BlockRef tiny(pool.acquire(64));
  EXPECT_EQ(pool.cached_bytes(), block_bytes(4000));
}

TEST(BlockPool, NeverHandsOutABlockInUse) {
  BlockPool pool(kCap);
  BlockRef held = pool.acquire(4096);
  std::memset(held.get(), 1, 4096);
  for (int i = 0; i < 100; ++i) {
    BlockRef other = pool.acquire(4096);
    ASSERT_NE(other.get(), held.get());
    std::memset(other.get(), 2, 4096);
  }
  for (int i = 0; i < 4096; ++i) ASSERT_EQ(held.get()[i], std::byte{1});
}

TEST(BlockPool, TheLastOwnerGivesBack) {
  BlockPool pool(kCap);
  BlockRef block = pool.acquire(0);
  EXPECT_NE(block.get(), nullptr);
  BlockRef other = block;
  block.reset();
  EXPECT_EQ(pool.cached_bytes(), 0u);
  other.reset();
  EXPECT_GT(pool.cached_bytes(), 0u);
}

TEST(BlockPool, KeepsNoMoreThanItsCap) {
  BlockPool pool(10000);
  std::vector<BlockRef> held;
  for (int i = 0; i < 20; ++i) held.emplace_back(pool.acquire(1000));
  held.clear();
  EXPECT_LE(pool.cached_bytes(), 10000u);
  EXPECT_GE(pool.cached_bytes(), 8000u);
  pool.acquire(20000);  // Larger than the cap: freed.
  EXPECT_LE(pool.cached_bytes(), 10000u);
}

TEST(BlockPool, NewSizesPushOldOnesOut) {
  BlockPool pool(10000);
  {
    std::vector<BlockRef> held;
    for (int i = 0; i < 9; ++i) held.emplace_back(pool.acquire(1000));
  }
  pool.acquire(5000);
  EXPECT_LE(pool.cached_bytes(), 10000u);
  size_t cached = pool.cached_bytes();
  BlockRef again(pool.acquire(5000));
  EXPECT_EQ(pool.cached_bytes(), cached - block_bytes(5000));
}

TEST(BlockPool, KeepsNothingOnceItStoppedCaching) {
  BlockPool pool(kCap);
  BlockRef held(pool.acquire(1000));
  for (size_t bytes : {10, 500, 100000, 3000000}) pool.acquire(bytes);
  EXPECT_GT(pool.cached_bytes(), 3000000u);
  pool.stop_caching();
  EXPECT_EQ(pool.cached_bytes(), 0u);
  held = BlockRef();
  BlockRef later(pool.acquire(1000));  // Serves as before.
  std::memset(later.get(), 1, 1000);
  later = BlockRef();
  EXPECT_EQ(pool.cached_bytes(), 0u);
}

TEST(BlockPool, BlocksOutliveTheirPool) {
  auto pool = std::make_unique<BlockPool>(kCap);
  pool->acquire(500);
  BlockRef small(pool->acquire(500));
  BlockRef large(pool->acquire(size_t{4} << 20));
  pool.reset();
  std::memset(small.get(), 1, 500);
  std::memset(large.get(), 1, size_t{4} << 20);
  small = BlockRef();
  large = BlockRef();  // Leaks are for the address sanitizer to see.
}

TEST(BlockPool, AbsurdSizesAreTypedErrors) {
  BlockPool pool(kCap);
  EXPECT_THROW(pool.acquire(SIZE_MAX), RuntimeError);
  EXPECT_THROW(pool.acquire(size_t{1} << 46), RuntimeError);  // No memory.
  EXPECT_THROW(pool.acquire((size_t{1} << 46) + 1), RuntimeError);
}

TEST(BlockPool, ManyThreadsMixedSizes) {
  BlockPool pool(size_t{1} << 20);
  std::mutex mutex;
  std::vector<BlockRef> exchange;  // Blocks released by other threads.
  std::vector<std::thread> threads;
  std::atomic<int> torn{0};
  for (unsigned seed = 1; seed <= 8; ++seed) {
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      std::vector<BlockRef> held;
      for (int i = 0; i < 3000; ++i) {
        size_t bytes = random() % (random() % 16 == 0 ? 200000 : 2000) + 8;
        BlockRef block(pool.acquire(bytes));
        std::memset(block.get(), static_cast<int>(seed), 8);
        held.push_back(block);
        if (i % 7 == 0) {
          std::lock_guard lock(mutex);
          exchange.push_back(std::move(block));
          if (exchange.size() > 20) exchange.erase(exchange.begin());
        }
        if (held.size() > 10) {
          BlockRef& oldest = held[random() % held.size()];
          for (int at = 0; at < 8; ++at)
            if (oldest.get()[at] != std::byte(seed)) ++torn;
          std::swap(oldest, held.back());
          held.pop_back();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(torn, 0);
  EXPECT_LE(pool.cached_bytes(), size_t{1} << 20);
}

TEST(BlockPool, DestroyedWhileOthersRelease) {
  for (int round = 0; round < 200; ++round) {
    auto pool = std::make_unique<BlockPool>(kCap);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      std::vector<BlockRef> held;
      for (int block = 0; block < 20; ++block)
        held.emplace_back(pool->acquire(64 + block % 3 * 200));
      threads.emplace_back([held = std::move(held)]() mutable {
        while (!held.empty()) held.pop_back();
      });
    }
    pool.reset();
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit::support
