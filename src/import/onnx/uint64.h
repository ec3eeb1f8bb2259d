// uint64, whose bits int64 carries: most calls give the same bits in both
// types; here are those that do not.
#pragma once

#include <optional>

#include "src/import/onnx/call.h"
#include "src/import/onnx/op_rows.h"

namespace fxjit::onnx {

// The results of a call whose order, quotient or number depends on what the
// first bit counts; nothing for other calls, which `row` answers.
std::optional<Results> uint64_results(Call& call, const OpRow& row);

}  // namespace fxjit::onnx
