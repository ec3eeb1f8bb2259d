// The explicit list of op families. A family is a constant array of rows in
// src/ops/families/; adding one means a line in families.inc. Only the registry
// calls these.
#pragma once

#include <span>
#include <vector>

#include "fxjit/op.h"

namespace fxjit::ops {

#define FXJIT_FAMILY(name) std::span<const OpRow> name##_rows();
#include "src/ops/table/families.inc"
#undef FXJIT_FAMILY

// Every family, in table order.
std::vector<std::span<const OpRow>> all_families();

}  // namespace fxjit::ops
