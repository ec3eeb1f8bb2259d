// What generated drivers call of oneDNN, and the handles that they pass.
#pragma once

#include <span>
#include <utility>

#include "src/program/driver/primitive_code.h"

namespace fxjit::kernels::onednn {

// The functions by name.
std::span<const std::pair<const char*, void*>> driver_symbols();

}  // namespace fxjit::kernels::onednn
