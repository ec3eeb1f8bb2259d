// Runs many small cases in a process of their own, which may crash, hang or run
// out of memory without ending the test.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace fxjit::testing {

// What went wrong, one text for each case: what `run` returned, where it is not
// empty, or how the process ended. A case has 10 seconds and 1 GiB.
std::vector<std::string> run_isolated(
    size_t count, const std::function<std::string(size_t)>& run);

}  // namespace fxjit::testing
