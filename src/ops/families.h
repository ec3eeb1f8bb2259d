// The explicit list of op families. A family is a constant array of rows in
// src/ops/families/; adding one means a declaration here and a line in
// families.cpp. Only the registry calls these.
#pragma once

#include <span>
#include <vector>

#include "fxjit/op.h"

namespace fxjit::ops {

std::span<const OpRow> arithmetic_rows();
std::span<const OpRow> clamping_rows();
std::span<const OpRow> smooth_rows();
std::span<const OpRow> activation_rows();
std::span<const OpRow> comparison_rows();
std::span<const OpRow> bitwise_rows();
std::span<const OpRow> selection_rows();
std::span<const OpRow> cast_rows();

// Every family, in table order.
std::vector<std::span<const OpRow>> all_families();

}  // namespace fxjit::ops
