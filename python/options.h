// Keyword arguments of `load` as options of the compiler.
#pragma once

#include <nanobind/nanobind.h>

#include "fxjit/compile.h"

namespace fxjit::python {

// An input's sizes: None, or a list with None or (name, least, most) for each
// dim, None for no largest size.
InputSizes input_sizes_of(nanobind::handle sizes);

// TypeError for unknown names and kinds, ValueError for values that there are
// not; both list what there is.
CompileOptions options_of(const nanobind::dict& options);

}  // namespace fxjit::python
