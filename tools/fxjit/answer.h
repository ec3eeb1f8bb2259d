// What scripts of this folder say: an object of JSON on a line.
#pragma once

#include <nlohmann/json.hpp>

#include "tools/fxjit/child.h"

namespace fxjit::command {

// ChildError with what the script says is wrong, or as Child::answer.
nlohmann::json answer_of(Child& child, double seconds);

}  // namespace fxjit::command
