#include "src/support/memory/aligned_block.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "fxjit/error.h"

namespace fxjit::support {
namespace TEST_FILE {

constexpr size_t kMib = size_t{1} << 20;

bool aligned_to(const void* pointer, size_t unit) {
  return reinterpret_cast<uintptr_t>(pointer) % unit == 0;
}

TEST(AlignedBlock, SmallBlocksAreAlignedAndWritable) {
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{63}, size_t{64}, size_t{65},
                       size_t{4096}, kMib - 1}) {
    AlignedBlock block(bytes);
    EXPECT_EQ(block.size(), bytes);
    ASSERT_NE(block.data(), nullptr);
    EXPECT_TRUE(aligned_to(block.data(), AlignedBlock::kAlignment));
    EXPECT_FALSE(block.is_large());
    std::memset(block.data(), 0xab, bytes);
  }
}

TEST(AlignedBlock, LargeBlocksAreHugePageAlignedAndZero) {
  for (size_t bytes :
       {kMib, kMib + 1, 2 * kMib, 2 * kMib - 100, 5 * kMib + 7, 32 * kMib}) {
    AlignedBlock block(bytes);
    EXPECT_EQ(block.size(), bytes);
    EXPECT_TRUE(block.is_large());
    EXPECT_TRUE(aligned_to(block.data(), AlignedBlock::kLargeAlignment));
    EXPECT_EQ(block.data()[0], std::byte{0});
    EXPECT_EQ(block.data()[bytes - 1], std::byte{0});
    std::memset(block.data(), 0xab, bytes);
  }
}

TEST(AlignedBlock, InHugePages) {
  EXPECT_FALSE(AlignedBlock::in_huge_pages(AlignedBlock::kWorthHugePage - 1)
                   .is_large());
  for (size_t bytes : {AlignedBlock::kWorthHugePage, kMib + 64, 2 * kMib - 1,
                       2 * kMib, 3 * kMib + 5}) {
    AlignedBlock block = AlignedBlock::in_huge_pages(bytes);
    EXPECT_EQ(block.size(), bytes);
    EXPECT_TRUE(block.is_large());
    EXPECT_TRUE(aligned_to(block.data(), AlignedBlock::kLargeAlignment));
    std::memset(block.data(), 0xab, bytes);
  }
}

TEST(AlignedBlock, ManyLargeBlocksDoNotOverlap) {
  AlignedBlock blocks[8];
  for (int i = 0; i < 8; ++i) {
    blocks[i] = AlignedBlock(kMib + i * 300000);
    std::memset(blocks[i].data(), i + 1, blocks[i].size());
  }
  for (int i = 0; i < 8; ++i)
    for (size_t at = 0; at < blocks[i].size(); at += 4096)
      ASSERT_EQ(blocks[i].data()[at], std::byte(i + 1));
}

TEST(AlignedBlock, MovesItsBytes) {
  for (size_t bytes : {size_t{100}, 3 * kMib}) {
    AlignedBlock first(bytes);
    std::byte* data = first.data();
    data[bytes - 1] = std::byte{42};
    AlignedBlock second(std::move(first));
    EXPECT_EQ(first.data(), nullptr);  // NOLINT: the moved-from state.
    EXPECT_EQ(first.size(), 0u);
    EXPECT_EQ(second.data(), data);
    AlignedBlock third(10);
    third = std::move(second);
    EXPECT_EQ(third.data(), data);
    EXPECT_EQ(third.size(), bytes);
    EXPECT_EQ(third.data()[bytes - 1], std::byte{42});
  }
  AlignedBlock empty;
  EXPECT_EQ(empty.data(), nullptr);
}

TEST(AlignedBlock, AbsurdSizesAreTypedErrors) {
  for (size_t bytes :
       {std::numeric_limits<size_t>::max(),
        std::numeric_limits<size_t>::max() - 63,
        std::numeric_limits<size_t>::max() / 2, size_t{1} << 60})
    EXPECT_THROW(AlignedBlock block(bytes), RuntimeError) << bytes;
}

TEST(AlignedBlock, NamesTheHugePageState) {
  EXPECT_EQ(parse_huge_page_state("always [madvise] never\n"), "madvise");
  EXPECT_EQ(parse_huge_page_state("[always] madvise never\n"), "always");
  EXPECT_EQ(parse_huge_page_state(""), "unavailable");
  EXPECT_EQ(parse_huge_page_state("broken ["), "unavailable");
  std::string state = transparent_huge_page_state();
  EXPECT_TRUE(state == "always" || state == "madvise" || state == "never" ||
              state == "unavailable")
      << state;
}

}  // namespace TEST_FILE
}  // namespace fxjit::support
