// Whatever integers a call is given, it gives a result or one of fxjit's
// errors: no crash, no hang, no table as long as the integer.
#include <gtest/gtest.h>

#include "tests/ops/absurd_cases.h"
#include "tests/ops/isolated.h"

namespace fxjit {
namespace TEST_FILE {

using testing::AbsurdCase;
using testing::AbsurdOutcome;

TEST(AbsurdIntegers, GiveAResultOrAnError) {
  const std::vector<AbsurdCase> cases = testing::absurd_cases();
  EXPECT_GT(cases.size(), 10000u);
  const std::vector<std::string> failures =
      testing::run_isolated(cases.size(), [&](size_t i) -> std::string {
        const AbsurdOutcome outcome = testing::run_absurd(cases[i]);
        if (!testing::asked_for_much(outcome.error)) return "";
        return cases[i].text() + "\n" + outcome.error;
      });
  for (const std::string& failure : failures) {
    std::string text = failure;
    if (text.starts_with("case "))
      text += ": " + cases[std::stoul(text.substr(5))].text();
    ADD_FAILURE() << text;
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
