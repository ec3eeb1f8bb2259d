// What goes through a file comes back as it was.
#include "fxjit/fx/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/safetensors.h"
#include "tests/fx/archive_testing.h"

namespace fxjit::fx {
namespace TEST_FILE {

using ::testing::HasSubstr;
using namespace testing_archive;  // NOLINT: the names of this folder
namespace F = nn::functional;

Tensor ramp(const Dims& sizes) {
  Tensor t = Tensor::empty(sizes);
  for (int64_t i = 0; i < t.numel(); ++i)
    t.data_as<float>()[i] = 0.01f * static_cast<float>(i % 97) - 0.3f;
  return t;
}

void expect_same(const nn::Ref<GraphModule>& saved, const Tensor& input) {
  const auto loaded = round_trip(*saved);
  EXPECT_EQ(all_text(*loaded), all_text(*saved));
  loaded->graph().lint();
  const Value expected = saved(input.clone());
  const Value got = loaded(input.clone());
  EXPECT_EQ(got.as_tensor().describe(), expected.as_tensor().describe());
  EXPECT_EQ(got.as_tensor().to_floats(), expected.as_tensor().to_floats());
}

struct Net : nn::Custom<Net> {
  Net() : Custom("Net", {"x", {"scale", 0.5}}) {
    layers = register_module(
        "layers", nn::Sequential::create(nn::Linear::create(6, 4),
                                         nn::ReLU::create(),
                                         nn::LayerNorm::create(4)));
    shift = register_parameter("shift", ramp({4}));
    mask = register_buffer("mask", Tensor::full({4}, 2), false);
  }
  Value forward(Value x, Value scale) {
    return layers(x) * scale + shift.value() + mask.value();
  }
  nn::Ref<nn::Sequential> layers;
  nn::Parameter shift;
  nn::Buffer mask;
};

TEST(Archive, TracedModel) {
  const auto net = Net::create();
  net->eval();
  const auto gm = symbolic_trace(net);
  const NodePtr relu = gm->graph().find_node("layers_1");
  relu->set_type("torch.Tensor");
  relu->set_val(Tensor::meta({3, 4}, DType::f32));
  relu->meta().set("tag", Value::dict({{"k", Value::list({1, "caf\xc3\xa9"})}}));
  ASSERT_TRUE(relu->source().known());
  ASSERT_TRUE(relu->module_stack());
  gm->recompile();
  expect_same(gm, ramp({3, 6}));
}

TEST(Archive, WeightsAreMappedAndReadableAsSafetensors) {
  const auto gm = symbolic_trace(Net::create());
  const std::string path = folder() / "mapped.safetensors";
  save(*gm, path);
  const auto loaded = load(path);
  EXPECT_TRUE(loaded->get_parameter("shift").tensor().storage()->read_only());
  bool found = false;
  for (const auto& [name, tensor] : load_safetensors(path))
    found = found || (name == "shift" &&
                      tensor.to_floats() == ramp({4}).to_floats());
  EXPECT_TRUE(found);
}

// x.mul_() without users stays, and so does what it writes to.
TEST(Archive, InPlaceCallsStay) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr count = graph.get_attr("count");
  graph.call_method("add_", {count, 1});
  graph.call_method("mul_", {x, count});
  const NodePtr sum = graph.call_function("_operator.iadd", {x, 10});
  const NodePtr relu = graph.call_function("torch.nn.functional.relu", {sum},
                                           {{"inplace", true}});
  graph.output(relu);
  nn::Module root;
  root.register_buffer("count", Tensor::zeros({1}));
  const auto gm = GraphModule::create(root, graph.copy());
  const auto loaded = round_trip(*gm);
  EXPECT_EQ(loaded->code(), gm->code());
  EXPECT_THAT(loaded->code(), HasSubstr("x += 10"));
  EXPECT_FALSE(loaded->graph().eliminate_dead_code());
  for (int call = 1; call <= 2; ++call)
    EXPECT_EQ(loaded(Tensor::full({1}, 3)).as_tensor().item(), 3 * call + 10);
}

TEST(Archive, WrappedFunctionsAndEveryKindOfArgument) {
  const Wrapped twice =
      wrap("archive_twice", [](Value x) -> Value { return x + x; });
  const auto gm = symbolic_trace(
      [&](Value x) -> Value { return twice(x) + 1; }, {"x"}, "f");
  expect_same(gm, ramp({2}));

  auto owned = std::make_unique<Graph>();
  Graph& graph = *owned;
  const NodePtr x = graph.placeholder("x", "int", Value(1.5));
  graph.placeholder("*args");
  graph.placeholder("**kwargs");
  const NodePtr call = graph.call_method(
      "anything",
      {x, Value::slice(x, None, -1), Value::range(1, 9, 2), Ellipsis,
       DType::bf16, -1e300, INFINITY, NAN, -0.0, INT64_MIN, "\t'\"\\\xff",
       Value::tuple({}), Value::list({Value::tuple({x})}),
       Value::dict({{1, x}, {"k", Value::dict({})}})},
      {{"not a name", false}});
  call->force_name("odd name");
  graph.output(call);
  const GraphModule any(nn::Module(), std::move(owned));
  EXPECT_EQ(all_text(*round_trip(any)), all_text(any));
  EXPECT_THAT(all_text(any), HasSubstr("odd name"));
}

TEST(Archive, ContainersAsInputs) {
  const auto gm = symbolic_trace(
      [](Value tree) -> Value {
        return Value::dict({{"sum", tree.at(0) + *tree.at(1).find("k")}});
      },
      {"tree"}, "f",
      {{"tree", Value::list({PH(), Value::dict({{"k", PH()}})})}});
  ASSERT_TRUE(gm->graph().has_codegen());
  const auto loaded = round_trip(*gm);
  EXPECT_EQ(all_text(*loaded), all_text(*gm));
  const Value tree =
      Value::list({ramp({2}), Value::dict({{"k", ramp({2})}})});
  EXPECT_EQ(loaded(tree).find("sum")->as_tensor().to_floats(),
            gm(tree).find("sum")->as_tensor().to_floats());
}

TEST(Archive, SharedWeightsStayShared) {
  struct Tied : nn::Custom<Tied> {
    Tied() : Custom("Tied", {"x"}) {
      a = register_module("a", nn::Linear::create(4, 4));
      b = register_module("b", nn::Linear::create(4, 4, false));
      b->weight = b->register_parameter("weight", a->weight);
      register_module("again", a);
    }
    Value forward(Value x) { return b(a(x)); }
    nn::Ref<nn::Linear> a, b;
  };
  const auto gm = symbolic_trace(Tied::create());
  expect_same(gm, ramp({2, 4}));
  const auto loaded = round_trip(*gm);
  EXPECT_EQ(loaded->get_parameter("a.weight"),
            loaded->get_parameter("b.weight"));
  loaded->get_parameter("b.weight").set_tensor(Tensor::zeros({4, 4}));
  EXPECT_EQ(loaded(ramp({1, 4})).as_tensor().to_floats(),
            std::vector<float>(4, 0.0f));
}

TEST(Archive, NestedGraphModulesUnusedMembersAndFlags) {
  const auto inner = symbolic_trace(Net::create());
  nn::Module root;
  root.register_module("inner", inner);
  root.register_module("empty", nn::ModuleRef());
  root.register_module("list", nn::ModuleList::create(nn::Tanh::create()));
  root.set_attr("constant", ramp({2, 2}));
  root.set_attr("names", Value::tuple({"a", None}));
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  graph.output(graph.call_module("inner", {x}));
  const auto gm = GraphModule::create(root, graph.copy(), "Outer");
  for (const auto& [name, child] : root.children())
    if (!gm->children().contains(name)) gm->register_module(name, child);
  for (const auto& [name, value] : root.own_attrs()) gm->set_attr(name, value);
  gm->train(true);
  inner->find_submodule("layers.1")->eval();
  inner->get_parameter("shift").set_tensor(
      Tensor::full({4}, 3, DType::f64).to(DType::f32));
  expect_same(gm, ramp({3, 6}));
  const auto loaded = round_trip(*gm);
  EXPECT_FALSE(loaded->find_submodule("inner.layers.1")->training());
  EXPECT_TRUE(same(loaded->attr("names"), gm->attr("names")));
  EXPECT_EQ(loaded->attr("constant").as_tensor().to_floats(),
            ramp({2, 2}).to_floats());
}

struct Scale : nn::Layer<Scale> {
  explicit Scale(double by) : Custom("Scale", {"x"}), by(by) {
    inner = register_module("inner", nn::Linear::create(2, 2));
  }
  Value forward(Value x) { return inner(x) * by; }
  const double by;
  nn::Ref<nn::Linear> inner;
};

TEST(Archive, TypesOfUsers) {
  nn::Module root;
  root.register_module("part", nn::Sequential::create(Scale::create(3.0)));
  Graph graph;
  graph.output(graph.call_module("part.0", {graph.placeholder("x")}));
  const auto gm = GraphModule::create(root, graph.copy());
  const std::string path = folder() / "user.safetensors";
  try {
    save(*gm, path);
    FAIL() << "saved a module of an unknown type";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("[save] module part.0: expected a layer "
                                        "of fxjit::nn or a type given to"));
    EXPECT_EQ(error.context().module_path, "part.0");
  }
  EXPECT_FALSE(std::filesystem::exists(path));

  nn::register_module_type(nn::module_type<Scale>(
      "Scale", [](const Scale& m) -> Kwargs { return {{"by", m.by}}; },
      [](nn::ArgumentReader& args) {
        return Scale::create(args.floating("by"));
      }));
  expect_same(gm, ramp({3, 2}));
  EXPECT_THROW(
      nn::register_module_type(nn::module_type<Scale>(
          "Scale2", [](const Scale&) -> Kwargs { return {}; },
          [](nn::ArgumentReader&) { return Scale::create(1.0); })),
      UserError);
}

TEST(Archive, EveryLayerComesBackWithItsArguments) {
  const std::vector<nn::ModuleRef> layers = {
      nn::Linear::create(3, 2, false),
      nn::Embedding::create(7, 3, -2),
      nn::Conv1d::create(4, 6, 3, nn::ConvOptions{.padding = "same"}),
      nn::Conv2d::create(4, 6, Value::tuple({3, 2}),
                         nn::ConvOptions{.stride = 2, .groups = 2,
                                         .bias = false}),
      nn::ConvTranspose1d::create(4, 6, 3,
                                  nn::ConvOptions{.stride = 2,
                                                  .output_padding = 1}),
      nn::ConvTranspose2d::create(4, 6, 3),
      nn::LayerNorm::create(Dims{2, 3}, 1e-3, true, false),
      nn::RMSNorm::create(4),
      nn::GroupNorm::create(2, 4, 1e-4, false),
      nn::BatchNorm1d::create(4, 1e-4, 0.2, false),
      nn::BatchNorm2d::create(4, 1e-5, 0.1, true, false),
      nn::MaxPool2d::create(2, None, 1, 1, true),
      nn::AvgPool2d::create(Value::tuple({2, 3})),
      nn::AdaptiveAvgPool2d::create(Value::tuple({2, None})),
      nn::GELU::create("tanh"),
      nn::LeakyReLU::create(0.25),
      nn::ELU::create(0.75),
      nn::Softmax::create(-1),
      nn::LogSoftmax::create(0),
      nn::Dropout::create(0.25),
      nn::Flatten::create(0, 1),
      nn::Identity::create(),
      nn::ReLU::create(),
      nn::ReLU6::create(),
      nn::SiLU::create(),
      nn::Tanh::create(),
      nn::Sigmoid::create(),
      nn::Hardswish::create(),
      nn::Hardsigmoid::create(),
      nn::Mish::create(),
      nn::Sequential::create(nn::ReLU::create(), nn::Tanh::create()),
      nn::ModuleDict::create({{"a", nn::ReLU::create()}}),
  };
  for (const nn::ModuleRef& layer : layers) {
    nn::Module root;
    root.register_module("layer", layer);
    Graph graph;
    graph.output(graph.call_module("layer", {graph.placeholder("x")}));
    const auto gm = GraphModule::create(root, graph.copy());
    const auto loaded = round_trip(*gm);
    EXPECT_EQ(all_text(*loaded), all_text(*gm));
    const nn::Module& kept = *loaded->find_submodule("layer");
    const nn::Module& given = *layer;
    EXPECT_EQ(typeid(kept), typeid(given));
    const auto before = gm->named_parameters(), after = loaded->named_parameters();
    for (size_t i = 0; i < before.size(); ++i)
      EXPECT_EQ(after[i].second.tensor().to_floats(),
                before[i].second.tensor().to_floats());
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
