// Values as the lines of the committed files, and their comparison.
#pragma once

#include <string>
#include <vector>

#include "fxjit/value.h"

namespace fxjit::mirror {

// One line per leaf or opening container, as mirror.py's `describe`.
std::vector<std::string> describe(const Value& value);

// What differs between two descriptions, "" for nothing. Floats may differ by
// `absolute` + `relative` * |expected|.
std::string difference(const std::vector<std::string>& got,
                       const std::vector<std::string>& expected,
                       double relative, double absolute);

}  // namespace fxjit::mirror
