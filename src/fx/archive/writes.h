// What of a saved module writes its tensors: those are then copied, not mapped.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "fxjit/fx/node.h"

namespace fxjit::fx::archive {

bool writes_in_place(const Node& node);
// Whether an entry of the table of modules is a batch norm in training.
bool keeps_statistics(const nlohmann::json& module);

}  // namespace fxjit::fx::archive
