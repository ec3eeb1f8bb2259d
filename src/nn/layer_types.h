// The layers of fxjit::nn as rows of the table of module types, which alone
// uses this.
#pragma once

#include <vector>

#include "fxjit/nn/module_types.h"

namespace fxjit::nn {

std::vector<ModuleType> layer_types();

}  // namespace fxjit::nn
