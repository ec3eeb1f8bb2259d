#include "fxjit/cpu_level.h"

#include <gtest/gtest.h>

namespace fxjit {
namespace TEST_FILE {

TEST(CpuLevel, NamesParseBack) {
  for (CpuLevel level : {CpuLevel::sse41, CpuLevel::avx2, CpuLevel::avx512}) {
    EXPECT_EQ(parse_cpu_level(cpu_level_name(level)), level);
  }
  EXPECT_EQ(parse_cpu_level("avx"), std::nullopt);
  EXPECT_EQ(parse_cpu_level(""), std::nullopt);
}

TEST(CpuLevel, HostHasEveryLevelUpToItsHighest) {
  const CpuLevel host = host_cpu_level();
  for (CpuLevel level : {CpuLevel::sse41, CpuLevel::avx2, CpuLevel::avx512}) {
    EXPECT_EQ(host_supports(level), level <= host) << cpu_level_name(level);
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
