// Scalar bodies as arguments of calls. They consist of plain values only, so
// that such calls are compared, printed and written out like any other.
#pragma once

#include "fxjit/scalar_body.h"
#include "fxjit/value.h"

namespace fxjit::ops {

Value to_value(const ScalarBody& body);
// Takes what to_value() gives.
ScalarBody body_from(const Value& value);

}  // namespace fxjit::ops
