// Element types of fxjit as DLPack's.
#pragma once

#include <nanobind/ndarray.h>

#include <optional>
#include <string>

#include "fxjit/dtype.h"

namespace fxjit::python {

// Nothing for types that fxjit lacks.
std::optional<DType> dtype_of(nanobind::dlpack::dtype type);
nanobind::dlpack::dtype dlpack_type(DType dtype);
// "uint32, which fxjit lacks: convert it to int64 first".
std::string lacking(nanobind::dlpack::dtype type);

}  // namespace fxjit::python
