// A graph of the user's, saved by fx::save, and inputs made up for it.
#pragma once

#include <string>
#include <vector>

#include "bench/graphs.h"

namespace fxjit::bench {

// `inputs` has one text per placeholder: "float32[8, 64]" is uniform in [-1,
// 1), "int64[1, 16]<30522" is in [0, 30522), without a bound in [0, 2).
// UserError for a text that says something else, for another number of texts,
// and for what fx::load refuses.
Workload load_workload(const std::string& file,
                       const std::vector<std::string>& inputs);

}  // namespace fxjit::bench
