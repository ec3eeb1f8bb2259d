// Graph modules that went through a file.
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(Saved)

namespace TEST_FILE {

namespace F = nn::functional;
using fx::GraphModule;
using fx::symbolic_trace;

nn::Ref<GraphModule> round_trip(const nn::Ref<GraphModule>& gm) {
  const auto path =
      std::filesystem::temp_directory_path() /
      ("fxjit-mirror-" + std::to_string(getpid()) + ".safetensors");
  fx::save(*gm, path);
  const auto back = fx::load(path);
  std::filesystem::remove(path);  // The mapping stays.
  return back;
}

struct Net : nn::Custom<Net> {
  Net() : Custom("Net", {"x"}) {
    layers = register_module(
        "layers",
        nn::Sequential::create(nn::Linear::create(4, 3), nn::ReLU::create(),
                               nn::LayerNorm::create(3)));
    scale = register_parameter("scale", Tensor::zeros({3}));
    shift = register_buffer("shift", Tensor::zeros({3}));
  }
  Value forward(Value x) { return layers(x) * scale + shift; }
  nn::Ref<nn::Sequential> layers;
  nn::Parameter scale;
  nn::Buffer shift;
};

struct Tied : nn::Custom<Tied> {
  Tied() : Custom("Tied", {"x"}) {
    a = register_module("a", nn::Linear::create(4, 4));
    b = register_module("b", nn::Linear::create(4, 4, false));
    b->weight = b->register_parameter("weight", a->weight);
  }
  Value forward(Value x) { return b(a(x)); }
  nn::Ref<nn::Linear> a, b;
};

struct Flags : nn::Custom<Flags> {
  Flags() : Custom("Net", {"x"}) {
    drop = register_module("drop", nn::Dropout::create(0.25));
    norm = register_module("norm",
                           nn::BatchNorm1d::create(3, 1e-5, 0.1, false));
    once = register_buffer("once", Tensor::full({1}, 1));
  }
  Value forward(Value x) { return drop(norm(x)) + once; }
  nn::Ref<nn::Dropout> drop;
  nn::Ref<nn::BatchNorm1d> norm;
  nn::Buffer once;
};

Value index(std::initializer_list<Value> parts) {
  return Value::tuple(ValueList(parts));
}

#define EXPECT_SHOWN(gm, ...)           \
  do {                                  \
    const auto back = round_trip(gm);   \
    expect_graph(back);                 \
    expect_code(back);                  \
    expect_tabular(back);               \
    expect_outputs(back, __VA_ARGS__);  \
  } while (false)

MIRROR_CASE(Saved, layers_and_state) {
  EXPECT_SHOWN(symbolic_trace(filled(Net::create())), {fill({2, 4})});
}

MIRROR_CASE(Saved, convolutions) {
  const auto net = nn::Sequential::create(
      nn::Conv2d::create(
          2, 4, 3,
          nn::ConvOptions{.stride = 2, .padding = 1, .bias = false}),
      nn::BatchNorm2d::create(4), nn::Hardswish::create(),
      nn::MaxPool2d::create(2, None, 0, 1, true),
      nn::AdaptiveAvgPool2d::create(1), nn::Flatten::create());
  EXPECT_SHOWN(symbolic_trace(filled(net)), {fill({1, 2, 8, 8})});
}

MIRROR_CASE(Saved, defaults_and_keywords) {
  EXPECT_SHOWN(symbolic_trace(
                   [](Value x, Value scale, Value name) -> Value {
                     return function(
                         "torch._C._nn.gelu",
                         {function("torch.clamp", {x * scale},
                                   {{"min", -1}, {"max", 0.5}})},
                         {{"approximate", name}});
                   },
                   {"x", {"scale", 2.5}, {"name", "none"}}),
               {fill({2, 3})});
}

MIRROR_CASE(Saved, indices) {
  EXPECT_SHOWN(
      symbolic_trace(
          [](Value x) -> Value {
            const Value left =
                getitem(x, index({Ellipsis, Value::slice(0, 2)}));
            const Value right = getitem(
                x, index({Value::slice(None, None), Value::slice(-2, None)}));
            const Value a = left + right;
            const Value first = getitem(x, 0);
            const Value wider = getitem(x, None);
            const Value part = getitem(
                x, index({Value::slice(1, None), Value::slice(None, None, 2)}));
            return Value::tuple(
                {a, Value::list({first, wider}),
                 Value::dict({{"k", part}, {"none", None}})});
          },
          {"x"}),
      {fill({3, 4})});
}

MIRROR_CASE(Saved, dtypes_and_infinities) {
  EXPECT_SHOWN(
      symbolic_trace(
          [](Value x) -> Value {
            const Value wide = method(x, "to", {DType::f64});
            const Value large = x > 0.5;
            const Value y = method(wide, "masked_fill", {large, -INFINITY});
            const Value clamped =
                function("torch.clamp", {y}, {{"max", INFINITY}});
            const Value narrow = method(y, "to", {}, {{"dtype", DType::f32}});
            return Value::tuple({clamped, narrow + 1e-05});
          },
          {"x"}),
      {fill({2, 3})});
}

MIRROR_CASE(Saved, in_place_methods) {
  EXPECT_SHOWN(symbolic_trace(
                   [](Value x) -> Value {
                     const Value y = x + 1;
                     method(y, "mul_", {3});
                     return method(y, "add_", {x}, {{"alpha", 2}});
                   },
                   {"x"}),
               {fill({4})});
}

MIRROR_CASE(Saved, names_in_use) {
  EXPECT_SHOWN(symbolic_trace(
                   [](Value add, Value add_1) -> Value {
                     const Value x = add + add_1;
                     const Value y = x + add;
                     const Value left = function("torch.relu", {y});
                     return left + function("torch.relu", {x});
                   },
                   {"add", "add_1"}),
               {fill({4}), fill({4}, 1)});
}

MIRROR_CASE(Saved, tied_weights) {
  const auto gm = symbolic_trace(filled(Tied::create()));
  EXPECT_SHOWN(gm, {fill({2, 4})});
  const auto back = round_trip(gm);
  expect_value("tied", back->get_parameter("a.weight") ==
                           back->get_parameter("b.weight"));
  ValueList names;
  for (const auto& [name, parameter] : back->named_parameters())
    names.emplace_back(name);
  expect_value("names", names);
}

MIRROR_CASE(Saved, state_and_flags) {
  const auto net = filled(Flags::create());
  net->drop->train();
  const auto back = round_trip(symbolic_trace(net));
  expect_graph(back);
  ValueList state, training;
  for (const auto& [name, tensor] : back->state_dict())
    state.emplace_back(name);
  expect_value("state", state);
  for (const auto& [name, child] : back->named_modules())
    if (child->training()) training.emplace_back(name);
  expect_value("training", training);
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
