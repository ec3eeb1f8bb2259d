// Every case stands on both sides.
#include <gmock/gmock.h>

#include <set>
#include <string>

#include "tests/mirror/expected_file.h"

namespace fxjit::mirror {
namespace TEST_FILE {

using ::testing::IsEmpty;

std::set<std::string> expected_cases() {
  std::set<std::string> names;
  for (const std::string& area : expected_areas())
    for (const auto& [name, sections] : read_expected(area))
      names.insert(area + "." + name);
  return names;
}

// Those of this program, its own tests left out.
std::set<std::string> cases_here() {
  std::set<std::string> names;
  const auto& unit = *::testing::UnitTest::GetInstance();
  for (int s = 0; s < unit.total_test_suite_count(); ++s) {
    const testing::TestSuite& suite = *unit.GetTestSuite(s);
    if (std::string(suite.name()).starts_with("Mirror")) continue;
    for (int t = 0; t < suite.total_test_count(); ++t)
      names.insert(area_of(suite.name()) + "." + suite.GetTestInfo(t)->name());
  }
  return names;
}

std::set<std::string> missing(const std::set<std::string>& all,
                              const std::set<std::string>& from) {
  std::set<std::string> absent;
  for (const std::string& name : all)
    if (!from.contains(name)) absent.insert(name);
  return absent;
}

TEST(MirrorComplete, EveryCaseOfTorchHasItsCounterpart) {
  EXPECT_THAT(missing(expected_cases(), cases_here()), IsEmpty());
}

TEST(MirrorComplete, EveryCaseHereHasBeenRunByTorch) {
  EXPECT_THAT(missing(cases_here(), expected_cases()), IsEmpty());
}

TEST(MirrorComplete, NamesOfAreas) {
  EXPECT_EQ(area_of("Trace"), "trace");
  EXPECT_EQ(area_of("GraphModule"), "graph_module");
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
