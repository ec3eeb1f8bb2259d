// Which regions compute with operands that lie in a larger tensor, so that
// there are gaps between their rows or images. Others know their operands by
// sizes and dense strides alone.
#pragma once

#include "src/passes/model_graph.h"

namespace fxjit::program {

// Whether the region's steps can read what the placeholder stands for where it
// has the sizes and strides of `val`.
bool reads_with_gaps(const passes::Region& region, const fx::Node& placeholder,
                     const Tensor& val);

// Whether they can write a result with the sizes and strides of `val`.
bool writes_with_gaps(const passes::Region& region, const Tensor& val);

}  // namespace fxjit::program
