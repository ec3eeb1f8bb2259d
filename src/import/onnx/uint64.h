// Calls on uint64, which int64 carries by its bits. Most calls give the same
// bits for both types; these are the ones that do not.
#pragma once

#include <optional>

#include "src/import/onnx/call.h"
#include "src/import/onnx/op_rows.h"

namespace fxjit::onnx {

// The results of a call that depends on what the highest bit means:
// comparisons, quotients, conversions. None for other calls, which are left to
// `row`.
std::optional<Results> uint64_results(Call& call, const OpRow& row);

}  // namespace fxjit::onnx
