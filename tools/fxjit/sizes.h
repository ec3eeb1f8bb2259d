// Names for sizes of a model's inputs, as --sizes gives them.
#pragma once

#include <string>
#include <vector>

#include "tools/fxjit/model.h"

namespace fxjit::command {

// Each text is "NAME=SIZES", for each dim, with commas between: a name, with
// ":least..most" for a range, "*" for a size that changes, or a number or
// nothing where the dim is as the file says. Later calls of compile() for the
// model see them. UserError naming the option for other texts.
void declare_sizes(const Model& model, const std::vector<std::string>& texts);

}  // namespace fxjit::command
