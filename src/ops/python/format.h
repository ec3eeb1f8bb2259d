// Python's `text % values`.
#pragma once

#include <string>
#include <string_view>

#include "fxjit/value.h"

namespace fxjit::ops::python {

// `text` with its conversions ("%d", "%-5.2f", "%(key)s") replaced by the items
// of a tuple, the entries of a dict, or one value. TypeError and ValueError
// with Python's texts.
std::string format(std::string_view text, const Value& values);

}  // namespace fxjit::ops::python
