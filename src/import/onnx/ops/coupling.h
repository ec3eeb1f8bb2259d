// Probabilities of classes from those of pairs of them.
#pragma once

#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {

// Float [n, classes] from [n, pairs], which have the probability of class i
// beside class j for each i < j.
Value coupled_classes(const Call& call, const Value& pairs, int64_t classes);

}  // namespace fxjit::onnx
