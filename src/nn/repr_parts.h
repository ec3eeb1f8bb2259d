// Python's text of values in the printed form of layers.
#pragma once

#include <string>

#include "fxjit/value.h"
#include "src/ops/python/items.h"

namespace fxjit::nn {

using ops::python::size_tuple;

inline std::string py(const Value& value) { return repr(value); }
inline std::string py(const Dims& dims) {
  return repr(size_tuple(dims));
}

}  // namespace fxjit::nn
