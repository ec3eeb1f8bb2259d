// What a row of the op table must give, checked when it is registered: a row
// that lacks something is refused with the name of what it lacks, long before a
// call would miss it. Used by the registry only.
#pragma once

#include "fxjit/op.h"

namespace fxjit::ops {

// Throws UserError, as the next one.
void check_row(const OpRow& row);

// What the row's schema says. Throws for bad text and for names twice.
std::vector<Parameter> row_parameters(const OpRow& row);

}  // namespace fxjit::ops
