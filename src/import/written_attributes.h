// Which parameters and buffers a graph writes: those need memory of their own,
// all others stay mapped.
#pragma once

#include <string>
#include <unordered_set>

#include "fxjit/fx/graph.h"

namespace fxjit::import {

// Targets of the get_attr nodes whose memory some call may write, itself or
// through views.
std::unordered_set<std::string> written_attributes(const fx::Graph& graph);

}  // namespace fxjit::import
