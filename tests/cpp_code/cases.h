// The graphs whose C++ code is compiled and run. Made anew, with the same
// weights, by the generator and by the test.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"

namespace fxjit::cpp_cases {

using Make = nn::Ref<fx::GraphModule> (*)();
// Each struct X is generated into the namespace of_X.
std::vector<std::pair<std::string, Make>> all();

nn::Ref<fx::GraphModule> perceptron();
nn::Ref<fx::GraphModule> convolutions();
nn::Ref<fx::GraphModule> volumes();  // These three: layer_cases.cpp.
nn::Ref<fx::GraphModule> stacks();
nn::Ref<fx::GraphModule> losses();
nn::Ref<fx::GraphModule> operators();
nn::Ref<fx::GraphModule> in_place();
nn::Ref<fx::GraphModule> signatures();
nn::Ref<fx::GraphModule> literals();
nn::Ref<fx::GraphModule> shared();
nn::Ref<fx::GraphModule> wrapped();
nn::Ref<fx::GraphModule> odd_names();
nn::Ref<fx::GraphModule> containers();
nn::Ref<fx::GraphModule> folded();
nn::Ref<fx::GraphModule> odd_literals();

// Refers to the attribute "w" and the module "lin".
std::unique_ptr<fx::Graph> free_graph();

// 0.01 * i - 0.3, wrapped around.
Tensor ramp(const Dims& sizes);

}  // namespace fxjit::cpp_cases
