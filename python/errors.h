// fxjit's errors as Python's exceptions.
#pragma once

#include <nanobind/nanobind.h>

namespace fxjit::python {

// TypeError, ValueError and the like become Python's own; other errors of the
// caller become `module.UserError` (a ValueError), among them
// `module.MissingFunctions`, and broken invariants `module.InternalError` (a
// RuntimeError).
void register_errors(nanobind::module_& module);

}  // namespace fxjit::python
