// Says which calls and modules of a file write tensors. If there are any,
// `load` copies the tensors of the file; otherwise it maps them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "fxjit/fx/node.h"

namespace fxjit::fx::archive {

bool writes_in_place(const Node& node);
// Whether a row of the file's table of modules is a batch norm in training,
// which updates its running statistics.
bool keeps_statistics(const nlohmann::json& module);

}  // namespace fxjit::fx::archive
