// Tests of code for each CPU level leave out the levels that this machine
// lacks: here it is said, once for each program of tests.
#include "tests/support/host_levels.h"

#include <gtest/gtest.h>

#include <string>

namespace fxjit::support {
namespace TEST_FILE {

class HostLevels : public ::testing::TestWithParam<CpuLevel> {};

TEST_P(HostLevels, AreTested) {
  if (!host_supports(GetParam()))
    GTEST_SKIP() << "this machine lacks " << cpu_level_name(GetParam())
                 << ": code for it was not tested";
}

INSTANTIATE_TEST_SUITE_P(Levels, HostLevels, ::testing::ValuesIn(kCpuLevels),
                         [](const auto& info) {
                           return std::string(cpu_level_name(info.param));
                         });

}  // namespace TEST_FILE
}  // namespace fxjit::support
