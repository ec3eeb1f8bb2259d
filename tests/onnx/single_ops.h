// Calls of one op each and what ONNX Runtime gives for them: ops of its own
// domain, of ai.onnx.ml, and such as ONNX has dropped.
#pragma once

#include <string>
#include <vector>

#include "tests/onnx/both_ways.h"

namespace fxjit::testing_onnx {

inline constexpr const char* kMicrosoft = "com.microsoft";
inline constexpr const char* kMl = "ai.onnx.ml";

struct SingleOp {
  std::string name, op, domain;
  std::vector<Message> attributes;
  std::vector<Value> inputs;  // None: absent.
  size_t output = 0;          // The one that is looked at.
  Dims sizes = {};
  std::vector<float> expected = {};
  int64_t opset = 17;
};

// One file each.
std::vector<SingleOp> fused_ops();
std::vector<SingleOp> quantized_ops();
std::vector<SingleOp> plane_ops();
std::vector<SingleOp> feature_ops();
std::vector<SingleOp> estimator_ops();
std::vector<SingleOp> vector_ops();
std::vector<SingleOp> suppression_ops();

// The same numbers for the same sizes and seed, quarters from -1.25 to 1.25.
Value wave(const Dims& sizes, int64_t seed);
Value numbers(const Dims& sizes, const std::vector<float>& values, DType dtype);

}  // namespace fxjit::testing_onnx
