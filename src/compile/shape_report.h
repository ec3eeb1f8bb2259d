// Rows of reports that name nodes.
#pragma once

#include <string>

#include "fxjit/fx/node.h"
#include "fxjit/report.h"

namespace fxjit {

// A node that the interpreter runs, and why.
StepReport interpreted_step(const fx::Node& node, std::string reason);

}  // namespace fxjit
