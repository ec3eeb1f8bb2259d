// The onnx package's own cases, each interpreted and compiled, are as
// claims.txt says: passed, or failed for the reason given there.
//
// FXJIT_ONNX_CLAIMS=file writes the claims anew instead, with each failure's
// own text; a key in FXJIT_ONNX_CASE runs one case alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/onnx/backend_cases.h"
#include "tests/onnx/claims.h"

namespace fxjit::testing_onnx {
namespace TEST_FILE {

constexpr size_t kParts = 8;

class Backend : public ::testing::TestWithParam<size_t> {};

void check(const BackendCase& one, const Claims& claims) {
  const auto claim = claims.find(one.key());
  if (claim == claims.end()) {
    ADD_FAILURE() << one.key() << ": claims.txt does not have it";
    return;
  }
  const std::string interpreted = run_case(one, Way::interpreted);
  if (!claim->second.empty()) {
    EXPECT_NE(interpreted + run_case(one, Way::compiled), "")
        << one.key() << " passes now: claims.txt says " << claim->second;
    return;
  }
  EXPECT_EQ(interpreted, "") << one.key() << ", interpreted";
  EXPECT_EQ(run_case(one, Way::compiled), "") << one.key() << ", compiled";
}

TEST_P(Backend, CasesAreAsClaimed) {
  const auto cases = backend_cases();
  if (cases.empty()) GTEST_SKIP() << "scripts/setup brings the cases";
  const Claims claims = read_claims();
  for (size_t i = GetParam(); i < cases.size(); i += kParts)
    check(cases[i], claims);
}

INSTANTIATE_TEST_SUITE_P(All, Backend,
                         ::testing::Range<size_t>(0, kParts));

TEST(Claims, AreWrittenAnewWhereAsked) {
  const char* const path = std::getenv("FXJIT_ONNX_CLAIMS");
  if (!path) GTEST_SKIP() << "FXJIT_ONNX_CLAIMS names no file";
  const char* const only = std::getenv("FXJIT_ONNX_CASE");
  Claims claims;
  for (const BackendCase& one : backend_cases()) {
    if (only && one.key().find(only) == std::string::npos) continue;
    std::string& reason = claims[one.key()];
    reason = run_case(one, Way::interpreted);
    if (!reason.empty()) continue;
    reason = run_case(one, Way::compiled);
    if (!reason.empty()) reason = "compiled: " + reason;
  }
  write_claims(path, claims);
}

}  // namespace TEST_FILE
}  // namespace fxjit::testing_onnx
