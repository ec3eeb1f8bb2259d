// What the ops of ai.onnx.ml share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {

inline constexpr std::string_view kMl = "ai.onnx.ml";

// Real numbers in this type, as a constant of the model.
Value number_list(const Call& call, const std::vector<double>& numbers,
                  DType dtype);
// Integers, of one dim.
Value integer_list(const Call& call, const std::vector<int64_t>& numbers);

// Scores [n, classes] by a transform, "SOFTMAX", and by that which the
// attribute post_transform names.
Value transformed_by(const Call& call, std::string_view name,
                     const Value& scores);
Value transformed(const Call& call, const Value& scores);

// The classes' labels, which are integers; fails for texts.
std::vector<int64_t> class_labels(const Call& call, std::string_view attribute);
// Those at these places, int64 [n].
Value labels_at(const Call& call, const std::vector<int64_t>& labels,
                const Value& places);

// The two results of a classifier of two classes that computes one score [n,
// 1]: the second label where the score is above `threshold`, and a score for
// each, `first` for the first class.
Results binary_results(const Call& call, const std::vector<int64_t>& labels,
                       const Value& score, double threshold,
                       const Value& first);

}  // namespace fxjit::onnx
