#include "src/support/machine/tile_products.h"

#include <gtest/gtest.h>

#include "src/support/machine/dot_products.h"

namespace fxjit::support {
namespace TEST_FILE {

// What is made of an answer, and how often the system was asked for it.
struct Asked {
  bool may;
  int times;
};

Asked asked(const TileFacts& facts, bool answer) {
  Asked made{false, 0};
  made.may = may_use_tiles(facts, [&] {
    ++made.times;
    return answer;
  });
  return made;
}

TEST(TileProducts, AreWhatTheSystemAnswers) {
  const TileFacts all{true, true, true};
  for (const bool answer : {false, true}) {
    const Asked made = asked(all, answer);
    EXPECT_EQ(made.may, answer);
    EXPECT_EQ(made.times, 1);
  }
}

TEST(TileProducts, NobodyIsAskedForWhatIsNotThere) {
  for (const TileFacts& facts : {TileFacts{false, true, true},
                                 {true, false, true},
                                 {true, true, false}}) {
    const Asked made = asked(facts, true);
    EXPECT_FALSE(made.may);
    EXPECT_EQ(made.times, 0);
  }
}

// Of any machine: tiles stand beside AVX-512 and its dot products.
TEST(TileProducts, NeedTheLevelAndDotProducts) {
  EXPECT_FALSE(host_has_tile_products(CpuLevel::sse41));
  EXPECT_FALSE(host_has_tile_products(CpuLevel::avx2));
  const bool has_tiles = host_has_tile_products(CpuLevel::avx512);
  EXPECT_EQ(has_tiles, host_has_tile_products(CpuLevel::avx512));
  if (has_tiles) EXPECT_TRUE(host_has_dot_products(CpuLevel::avx512));
}

}  // namespace TEST_FILE
}  // namespace fxjit::support
