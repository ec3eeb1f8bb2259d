// Small models whose results were once other than ONNX says: the table of this
// front end's regressions.
#pragma once

#include <string>
#include <vector>

#include "tests/onnx/both_ways.h"

namespace fxjit::testing_onnx {

// One call and its results: elements and sizes of the first one, or the words
// of the error in place of them.
struct RegressionCall {
  ValueList inputs;
  std::vector<float> expected = {};
  Dims sizes = {};
  std::string error = {};
};

struct Regression {
  std::string name;
  Message model;
  std::vector<RegressionCall> calls;
  std::string refusal = {};  // Words of the error when the model is loaded.
};

// One file each.
std::vector<Regression> shape_regressions();
std::vector<Regression> number_regressions();

// A model of one input and one output, both floats.
Message one_input_model(const std::vector<int64_t>& sizes,
                        std::vector<Message> nodes,
                        std::vector<Message> initializers = {},
                        int64_t opset = 19);

// 0, 1, 2 and so on.
Tensor counted(const Dims& sizes);

}  // namespace fxjit::testing_onnx
