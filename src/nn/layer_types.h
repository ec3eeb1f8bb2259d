// The layers of fxjit::nn as rows of the table of module types. Used by it
// only.
#pragma once

#include <vector>

#include "fxjit/nn/module_types.h"

namespace fxjit::nn {

std::vector<ModuleType> layer_types();
// Its rows of attention, recurrent layers, padding and pixels.
void add_sequence_types(std::vector<ModuleType>& types);
// Its rows of cells, transformer layers, bags and layers of one function.
void add_more_types(std::vector<ModuleType>& types);
// Its rows of losses.
void add_loss_types(std::vector<ModuleType>& types);

}  // namespace fxjit::nn
