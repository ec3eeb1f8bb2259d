// Committed results of PyTorch for calls of ops (made by make_reference.py, see
// there for the format). Used by the tests of this folder; read-only.
#pragma once

#include <string>
#include <vector>

#include "fxjit/value.h"

namespace fxjit::testing {

struct ReferenceCase {
  std::string op;    // Canonical name of the row.
  std::string text;  // The line's call part, for messages.
  ValueList args;
  Kwargs kwargs;
  Tensor expected;
};

// All cases of a file in tests/ops; throws UserError on a malformed file.
std::vector<ReferenceCase> read_reference(const std::string& file_name);

// Empty when equal within the dtype's tolerance (NaN equals NaN, infinities and
// integers are exact), otherwise the first difference.
std::string difference(const Tensor& got, const Tensor& expected);

}  // namespace fxjit::testing
