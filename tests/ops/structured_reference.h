// Committed results of PyTorch for the structured rows (made by
// make_structured_reference.py, see there for the format). Read-only.
#pragma once

#include <string>
#include <vector>

#include "fxjit/value.h"

namespace fxjit::testing {

struct StructuredCase {
  enum class Kind { value, view, failure };
  Kind kind = Kind::value;
  std::string op;    // Canonical name of the row.
  std::string text;  // The line's call part, for messages.
  ValueList args;
  Kwargs kwargs;
  Value expected;  // A tensor, a plain value, or a tuple of these.
  std::string error_type, error_text;
};

// All cases of a file in tests/ops; throws UserError on a malformed file.
std::vector<StructuredCase> read_structured_reference(
    const std::string& file_name);

// Empty when equal within the dtype's tolerance, otherwise what differs.
// Strides and offsets of tensors are compared if `views`.
std::string difference(const Value& got, const Value& expected, bool views);

// Empty when shapes, types and strides (and offsets if `views`) agree.
std::string shape_difference(const Value& inferred, const Value& result,
                             bool views);

// Whether results of this op always depend on the data, so that it has no shape
// rule.
bool depends_on_data_always(std::string_view op);

}  // namespace fxjit::testing
