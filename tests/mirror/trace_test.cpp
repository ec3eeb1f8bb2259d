// Tracing of modules and functions: what is recorded, under which names.
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(Trace)

namespace {

class LinearRelu : public nn::Custom<LinearRelu> {
 public:
  LinearRelu() : Custom("M", {"x"}) {
    param = register_parameter("param", Tensor::zeros({3, 4}));
    linear = register_module("linear", nn::Linear::create(4, 5));
  }
  Value forward(Value x) {
    return method(linear(x + param), "clamp", {}, {{"min", 0.0}, {"max", 1.0}});
  }
  nn::Parameter param;
  nn::Ref<nn::Linear> linear;
};

}  // namespace

MIRROR_CASE(Trace, linear_relu) {
  const auto gm = fx::symbolic_trace(filled(LinearRelu::create()));
  expect_graph(gm);
  expect_code(gm);
  expect_tabular(gm);
  expect_outputs(gm, {fill({3, 4}, 1)});
}

MIRROR_CASE(Trace, control_flow) {
  expect_error([] {
    fx::symbolic_trace(
        [](Value x) -> Value { return sum(x) > 0 ? x : -x; }, {"x"});
  });
}

}  // namespace fxjit::mirror
