// Strings, and lists of maps: a tensor of strings is one of places in a list of
// texts, a list of maps one of numbers whose columns have labels.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/import/onnx/call.h"
#include "src/import/onnx/model.h"
#include "src/import/onnx/op_rows.h"

namespace fxjit::onnx {

// TensorProto's number of strings.
inline constexpr int64_t kStringType = 8;
inline constexpr int64_t kInt64Type = 7;

// A tensor of those of these texts that stand at the places.
Operand text_tensor(const Value& places, std::vector<std::string> texts);
// The elements of a file's tensor of strings. UserError where their number is
// not what its dims say.
Operand text_tensor(Recorder& recorder, const TensorInfo& info);

// The texts of a graph that strings of its inputs may be equal to, in order,
// each once: all others are alike to its ops.
Texts texts_compared(const GraphInfo& graph);
// Of each text of the operand the place in `list`, -1 where it is not there;
// first that of what is not among the operand's texts, -1.
std::vector<int64_t> places_in(const std::vector<std::string_view>& list,
                               const Operand& operand);

// The results of a node of which an input holds texts, or numbers by label;
// nothing for other nodes. Fails for ops that do more than move them.
std::optional<Results> text_results(Call& call, const OpRow& row);

}  // namespace fxjit::onnx
