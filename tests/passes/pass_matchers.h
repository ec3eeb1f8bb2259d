// The names with which tests of passes are written. For their sources alone.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/passes/pass_testing.h"

namespace fxjit {

namespace F = nn::functional;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Passed;
using testing::random_index;
using testing::random_tensor;
using testing::regions;
using testing::run_passes;
using ::testing::SizeIs;
using ::testing::StartsWith;
using testing::wrong_result;

}  // namespace fxjit
