// A proxy that knows the shape of its node and computes its value aside: shows
// that a decomposition works on graphs, where arguments have shapes but no
// data.
#pragma once

#include "fxjit/value.h"

namespace fxjit::testing {

// Tensors in `value` (nested too) become proxies of them, all of one tracer.
Value shadowed(const Value& value);

// The computed value behind proxies.
Value revealed(const Value& value);

}  // namespace fxjit::testing
