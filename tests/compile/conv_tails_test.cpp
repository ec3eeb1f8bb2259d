// Work behind convolutions that is generated, in each code that computes
// convolutions, against the graph in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <variant>
#include <vector>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "src/compile/compiled_module.h"
#include "src/program/steps/steps.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using testing::random_tensor;

struct Layer {
  const char* name;
  int64_t channels, features, groups, height, width;
  int64_t window = 3, stride = 1, padding = 1;
};

constexpr Layer kLayers[] = {
    {"groups_of_four", 12, 12, 3, 9, 14},
    {"groups_of_twelve", 36, 36, 3, 12, 16},
    {"image", 3, 16, 1, 15, 12, 3, 2},
    {"dense", 24, 40, 1, 11, 9, 3, 2},
    {"many_places", 8, 24, 2, 96, 80, 5, 1, 2},
    {"one_place", 64, 96, 1, 5, 5, 5, 1, 0},
};

using Work = Value (*)(Value sums, Value residual, Value each);

struct NamedWork {
  const char* name;
  Work work;
};

const NamedWork kWorks[] = {
    {"relu", [](Value y, Value, Value) { return F::relu(y); }},
    {"clipped_residual",
     [](Value y, Value residual, Value) {
       return clamp(y + residual, Value(-0.5), Value(6.0));
     }},
    {"silu", [](Value y, Value residual,
                Value each) { return F::silu(y * each + each) + residual; }},
    {"gelu", [](Value y, Value, Value) { return F::gelu(y); }},
    {"mish", [](Value y, Value, Value) { return F::mish(y) * 0.5; }},
    {"by_channel",
     [](Value y, Value, Value each) { return tanh(y * each + each); }},
    {"residual",
     [](Value y, Value residual, Value) { return tanh(y) + residual; }},
    {"all", [](Value y, Value residual,
               Value each) { return F::elu(y * each) + F::gelu(residual); }},
};

struct Case {
  Layer layer;
  NamedWork work;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Layer& layer : kLayers)
    for (const NamedWork& work : kWorks) cases.push_back({layer, work});
  return cases;
}

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.layer.name << ", " << c.work.name;
}

// Channels lie last behind a convolution, and before the one that comes then.
Value as_given(const Value& x) { return permute(x, Dims{0, 3, 1, 2}); }

nn::Ref<fx::GraphModule> model_of(const Case& c, DType dtype) {
  const Layer& layer = c.layer;
  const auto given = [dtype](const Dims& sizes, uint32_t seed) {
    return Value(random_tensor(sizes, DType::f32, seed).to(dtype));
  };
  const Value weight = given({layer.features, layer.channels / layer.groups,
                              layer.window, layer.window},
                             3);
  const Value bias = given({layer.features}, 4);
  const Value each = given({layer.features, 1, 1}, 5);
  const Value next = given({7, layer.features, 1, 1}, 6);
  return fx::symbolic_trace(
      [=, work = c.work.work](Value x, Value residual) {
        const Value y =
            F::conv2d(as_given(x), weight, bias, Value(layer.stride),
                      Value(layer.padding), Value(1), Value(layer.groups));
        return F::conv2d(work(y, as_given(residual), each), next);
      },
      {"x", "residual"}, "f");
}

ValueList inputs_of(const Layer& layer) {
  const auto places = [&](int64_t size) {
    return (size + 2 * layer.padding - layer.window) / layer.stride + 1;
  };
  return {random_tensor({2, layer.height, layer.width, layer.channels},
                        DType::f32, 1),
          random_tensor(
              {2, places(layer.height), places(layer.width), layer.features},
              DType::f32, 2)};
}

const program::CallSpec* call_of(const program::Step& step) {
  const auto* body = std::get_if<program::ExternStep>(step.body.get());
  return body ? std::get_if<program::CallSpec>(&body->what) : nullptr;
}

// The steps of a model.
std::vector<program::Step> steps_of(const fx::GraphModule& module,
                                    const ValueList& inputs) {
  const auto shape = compiled_module(module)->get(inputs);
  EXPECT_TRUE(shape->native()) << shape->why_not();
  return shape->executable().program().steps;
}

// How many steps have the work as their epilogue: calls, tiles and windows.
size_t with_epilogues(const std::vector<program::Step>& steps) {
  const auto is_one = [](const program::Step& step) {
    if (const auto* call = call_of(step)) return !call->tail.empty();
    const auto* tile = std::get_if<program::TileStep>(step.body.get());
    const auto* window = std::get_if<program::WindowStep>(step.body.get());
    return (tile && tile->epilogue.instrs.size() > 1) ||
           (window && window->epilogue.instrs.size() > 1);
  };
  return static_cast<size_t>(std::ranges::count_if(steps, is_one));
}

class ConvTails : public ::testing::TestWithParam<Case> {
 protected:
  void expect_right(const ValueList& inputs) {
    ValueList wide;
    for (const Value& input : inputs)
      wide.push_back(input.as_tensor().to(DType::f64));
    const Value expected = model_of(GetParam(), DType::f64)->forward(wide);
    const auto narrow = model_of(GetParam(), DType::f32);
    for (CpuLevel level : testing::host_levels())
      for (int threads : {1, 2}) {
        SCOPED_TRACE(cpu_level_name(level));
        compile(*narrow, testing::options_for(level, threads));
        const Tensor got = narrow->forward(inputs).as_tensor();
        EXPECT_EQ(
            testing::value_difference(got.to(DType::f64), expected, 1e-5, 1e-3),
            "");
        EXPECT_EQ(with_epilogues(steps_of(*narrow, inputs)), 1u);
      }
  }
};

TEST_P(ConvTails, EqualDoublePrecision) {
  expect_right(inputs_of(GetParam().layer));
}

// Every convolution that reads one of them gives NaN or an infinity.
TEST_P(ConvTails, NanAndInfinityStay) {
  const ValueList inputs = inputs_of(GetParam().layer);
  auto* data = inputs[0].as_tensor().data_as<float>();
  auto* residual = inputs[1].as_tensor().data_as<float>();
  data[5] = std::numeric_limits<float>::quiet_NaN();
  residual[2] = std::numeric_limits<float>::infinity();
  expect_right(inputs);
}

INSTANTIATE_TEST_SUITE_P(Cases, ConvTails, ::testing::ValuesIn(all_cases()),
                         [](const auto& info) {
                           return std::string(info.param.layer.name) + "_" +
                                  info.param.work.name;
                         });

}  // namespace TEST_FILE
}  // namespace fxjit
