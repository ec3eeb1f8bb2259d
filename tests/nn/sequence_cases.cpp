#include "tests/nn/sequence_cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace fxjit::nn {

std::vector<SequenceCase> sequence_cases() {
  return {
#include "tests/nn/reference/sequences.inc"
  };
}

ModuleRef loaded(const SequenceCase& layer) {
  ModuleRef module = layer.make();
  module->eval();
  const LoadReport report = module->load_state_dict(layer.state);
  EXPECT_TRUE(report.unexpected.empty());
  EXPECT_TRUE(report.missing.empty());
  return module;
}

void expect_outputs(const Value& result, const SequenceCase& layer) {
  std::vector<Tensor> tensors;
  visit_leaves(result, [&](const Value& leaf) {
    if (leaf.is_tensor()) tensors.push_back(leaf.as_tensor());
  });
  ASSERT_EQ(tensors.size(), layer.outputs.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ(tensors[i].sizes(), layer.outputs[i].sizes());
    EXPECT_THAT(tensors[i].to_floats(),
                ::testing::Pointwise(::testing::NanSensitiveFloatNear(2e-5f),
                                     layer.outputs[i].to_floats()));
  }
}

}  // namespace fxjit::nn
