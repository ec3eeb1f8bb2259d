// Python's text of values in the printed form of layers.
#pragma once

#include <string>

#include "fxjit/value.h"

namespace fxjit::nn {

inline std::string py(const Value& value) { return repr(value); }
inline std::string py(const Dims& dims) {
  return repr(Value::tuple(ValueList(dims.begin(), dims.end())));
}

}  // namespace fxjit::nn
