// However an op is spelled (as a layer, a function, a method, an overload of
// ATen), the compiled program is the same.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "fxjit/report.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using testing::quick;
using testing::random_tensor;
using testing::value_difference;
using Spelled = std::function<Value(Value)>;

struct Family {
  std::string name;
  Dims sizes;  // Of the input.
  std::vector<Spelled> spellings;
};

Value aten(const char* overload, ValueList args) {
  return function(std::string("torch.ops.aten.") + overload, std::move(args));
}

Family products() {
  const Tensor weight = random_tensor({24, 16}), bias = random_tensor({24});
  return {"products",
          {5, 16},
          {[=](Value x) { return F::gelu(F::linear(x, weight, bias)); },
           [=](Value x) {
             return aten("gelu.default",
                         {aten("linear.default", {x, weight, bias})});
           },
           [=](Value x) {
             const Value turned = aten("t.default", {weight});
             return aten("gelu.default",
                         {aten("addmm.default", {bias, x, turned})});
           },
           [=](Value x) {
             const Value product =
                 method(x, "matmul", {method(weight, "t", {})});
             return F::gelu(method(product, "add", {bias}));
           }}};
}

Family convolutions() {
  const Tensor weight = random_tensor({8, 4, 3, 3}), scale = random_tensor({8});
  const Tensor shift = random_tensor({8}), mean = random_tensor({8});
  const Tensor spread = Tensor::full({8}, 1.5);
  const Value pair = Value::list({1, 1});
  return {
      "convolution, batch norm, relu in place",
      {1, 4, 9, 9},
      {[=](Value x) {
         const Value y = F::conv2d(x, weight, None, 1, 1);
         return F::relu(F::batch_norm(y, mean, spread, scale, shift));
       },
       [=](Value x) {
         const Value y = aten("conv2d.default", {x, weight, None, pair, pair});
         return aten("relu_.default",
                     {aten("batch_norm.default", {y, scale, shift, mean, spread,
                                                  false, 0.1, 1e-5, true})});
       },
       [=](Value x) {
         const Value y =
             aten("convolution.default", {x, weight, None, pair, pair, pair,
                                          false, Value::list({0, 0}), 1});
         const Value z = aten("_native_batch_norm_legit_no_training.default",
                              {y, scale, shift, mean, spread, 0.1, 1e-5});
         return aten("relu.default", {getitem(z, 0)});
       }}};
}

Family norms() {
  const Tensor scale = random_tensor({16}), shift = random_tensor({16});
  const Value sizes = Value::list({16});
  return {"layer norm and softmax",
          {6, 16},
          {[=](Value x) {
             return softmax(F::layer_norm(x, sizes, scale, shift), -1);
           },
           [=](Value x) {
             return aten(
                 "softmax.int",
                 {aten("layer_norm.default", {x, sizes, scale, shift}), -1});
           },
           [=](Value x) {
             const Value y = aten("native_layer_norm.default",
                                  {x, sizes, scale, shift, 1e-5});
             return aten("_softmax.default", {getitem(y, 0), -1, false});
           }}};
}

Family attention() {
  return {"attention",
          {1, 2, 7, 16},
          {[](Value x) { return F::scaled_dot_product_attention(x, x, x); },
           [](Value x) {
             return aten("scaled_dot_product_attention.default", {x, x, x});
           },
           [](Value x) {
             return getitem(
                 aten("_scaled_dot_product_flash_attention_for_cpu.default",
                      {x, x, x}),
                 0);
           }}};
}

Family group_norms() {
  const Tensor scale = random_tensor({4}), shift = random_tensor({4});
  return {"group norm",
          {2, 4, 3, 5},
          {[=](Value x) { return F::group_norm(x, 2, scale, shift); },
           [=](Value x) {
             return aten("group_norm.default", {x, 2, scale, shift});
           },
           [=](Value x) {
             return getitem(aten("native_group_norm.default",
                                 {x, scale, shift, 2, 4, 15, 2, 1e-5}),
                            0);
           }}};
}

// What nn::LSTM calls, and its exported form.
Family recurrent() {
  const Value state =
      Value::list({random_tensor({1, 2, 6}), random_tensor({1, 2, 6})});
  const Value weights =
      Value::list({random_tensor({24, 5}), random_tensor({24, 6}),
                   random_tensor({24}), random_tensor({24})});
  const auto call = [=](const char* name, Value x) {
    return getitem(
        function(name, {x, state, weights, true, 1, 0.0, false, false, false}),
        0);
  };
  return {"lstm",
          {3, 2, 5},
          {[=](Value x) { return call("torch.lstm", x); },
           [=](Value x) { return call("torch.ops.aten.lstm.input", x); }}};
}

Family pools() {
  const Value two = Value::list({2, 2});
  return {"pools",
          {1, 4, 8, 8},
          {[](Value x) { return F::avg_pool2d(F::max_pool2d(x, 2), 2); },
           [=](Value x) {
             return aten("avg_pool2d.default",
                         {aten("max_pool2d.default", {x, two}), two});
           },
           [=](Value x) {
             const Value y =
                 aten("max_pool2d_with_indices.default", {x, two, two});
             return aten("avg_pool2d.default", {getitem(y, 0), two, two});
           }}};
}

Family gates() {
  return {
      "gates",
      {4, 32},
      {[](Value x) {
         const Value gate = F::silu(exp(x)) * x;
         return gate + sigmoid(x);
       },
       [](Value x) {
         const Value smooth = aten("silu.default", {aten("exp.default", {x})});
         const Value gate = aten("mul.Tensor", {smooth, x});
         return aten("add.Tensor", {gate, aten("sigmoid.default", {x})});
       },
       [](Value x) {
         const Value smooth = aten("silu_.default", {aten("exp.default", {x})});
         const Value gate = method(smooth, "mul", {x});
         return method(gate, "add", {method(x, "sigmoid", {})});
       }}};
}

// What each step computes, and by what.
std::vector<std::string> steps_of(const fx::GraphModule& gm) {
  std::vector<std::string> steps;
  for (const ProgramReport& program : make_report(gm).programs) {
    EXPECT_EQ(program.why_not, "");
    for (const StepReport& step : program.steps) {
      EXPECT_TRUE(is_native(step.by)) << step.label << step.reason;
      steps.push_back(step.kernel + " " + step.label);
    }
  }
  return steps;
}

TEST(Spellings, GiveOneProgram) {
  for (const Family& family : {products(), convolutions(), norms(), attention(),
                               pools(), gates(), group_norms(), recurrent()}) {
    SCOPED_TRACE(family.name);
    const Tensor x = random_tensor(family.sizes);
    std::vector<std::string> first;
    Value expected;
    for (const Spelled& spelled : family.spellings) {
      const auto gm = fx::symbolic_trace(spelled, {"x"}, "spelled");
      compile(*gm, quick());
      const Value result = gm->forward({x});
      if (first.empty()) {
        first = steps_of(*gm);
        expected = result;
      }
      EXPECT_EQ(steps_of(*gm), first) << gm->graph().str();
      EXPECT_EQ(value_difference(result, expected, 1e-5, 1e-5), "");
    }
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
