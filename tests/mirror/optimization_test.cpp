// experimental.optimization: fusing of batch norms, removing of dropout.
#include "fxjit/fx/passes/optimization.h"
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {
namespace TEST_FILE {

namespace passes = fx::passes;

class Convolutions : public nn::Custom<Convolutions> {
 public:
  explicit Convolutions(bool used_elsewhere = false)
      : Custom("Convolutions", {"x"}), used_elsewhere_(used_elsewhere) {
    conv1 = register_module(
        "conv1",
        nn::Conv2d::create(2, 4, 3,
                           nn::ConvOptions{.padding = 1, .bias = false}));
    bn1 = register_module("bn1", nn::BatchNorm2d::create(4));
    conv2 = register_module(
        "conv2", nn::Conv2d::create(4, 4, 1, nn::ConvOptions{.groups = 2}));
    bn2 = register_module("bn2", nn::BatchNorm2d::create(4));
  }
  Value forward(Value x) {
    Value first = conv1(x);
    if (used_elsewhere_) return bn1(first) + first;
    Value y = relu(bn1(first));
    Value z = conv2(y);
    return bn2(z) + y;
  }
  nn::Ref<nn::Conv2d> conv1, conv2;
  nn::Ref<nn::BatchNorm2d> bn1, bn2;

 private:
  bool used_elsewhere_;
};

class Block : public nn::Custom<Block> {
 public:
  Block() : Custom("Block", {"x"}) {
    linear = register_module("linear", nn::Linear::create(4, 3));
    bn = register_module("bn", nn::BatchNorm1d::create(3));
  }
  Value forward(Value x) { return bn(linear(x)); }
  nn::Ref<nn::Linear> linear;
  nn::Ref<nn::BatchNorm1d> bn;
};

class Nested : public nn::Custom<Nested> {
 public:
  Nested() : Custom("M", {"x"}) {
    block = register_module("block", Block::create());
  }
  Value forward(Value x) { return relu(block(x)); }
  nn::Ref<Block> block;
};

class Dropping : public nn::Custom<Dropping> {
 public:
  Dropping() : Custom("M", {"x"}) {
    linear = register_module("linear", nn::Linear::create(4, 3));
    drop = register_module("drop", nn::Dropout::create(0.5));
  }
  Value forward(Value x) { return drop(relu(drop(linear(x)))) + 1; }
  nn::Ref<nn::Linear> linear;
  nn::Ref<nn::Dropout> drop;
};

class DerivedConv : public nn::Conv2d {
 public:
  using Conv2d::Conv2d;
};

class WithDerived : public nn::Custom<WithDerived> {
 public:
  WithDerived() : Custom("M", {"x"}) {
    conv = register_module(
        "conv", nn::ModuleRef(std::make_shared<DerivedConv>(2, 4, 1)));
    bn = register_module("bn", nn::BatchNorm2d::create(4));
  }
  Value forward(Value x) { return bn(conv(x)); }
  nn::ModuleRef conv;
  nn::Ref<nn::BatchNorm2d> bn;
};

class InARow : public nn::Custom<InARow> {
 public:
  InARow() : Custom("Once", {"x"}) {
    conv = register_module("conv", nn::Conv1d::create(2, 3, 1));
    one = register_module("one", nn::BatchNorm1d::create(3));
    three = register_module(
        "three", nn::BatchNorm1d::create(3, 1e-5, 0.1, /*affine=*/false));
  }
  Value forward(Value x) { return three(one(conv(x))); }
  nn::Ref<nn::Conv1d> conv;
  nn::Ref<nn::BatchNorm1d> one, three;
};

class WithDropout : public nn::Custom<WithDropout> {
 public:
  WithDropout() : Custom("M", {"x"}) {
    base = Convolutions::create();
    conv1 = register_module("conv1", base->conv1);
    bn1 = register_module("bn1", base->bn1);
    drop = register_module("drop", nn::Dropout::create(0.5));
  }
  Value forward(Value x) { return drop(relu(bn1(conv1(x)))) + 1; }
  nn::Ref<Convolutions> base;
  nn::Ref<nn::Conv2d> conv1;
  nn::Ref<nn::BatchNorm2d> bn1;
  nn::Ref<nn::Dropout> drop;
};

class Optimization : public Case {
 protected:
  void optimized(const nn::Ref<fx::GraphModule>& gm, const ValueList& inputs) {
    expect_graph(gm);
    expect_code(gm);
    std::string names;
    for (const auto& [name, module] : gm->named_modules())
      if (!name.empty()) names += (names.empty() ? "" : " ") + name;
    expect_text("children", names);
    expect_outputs(gm, inputs);
  }
};

MIRROR_CASE(Optimization, fuse_convolutions) {
  const auto model = filled(Convolutions::create());
  const std::vector<float> before = model->conv1->weight.tensor().to_floats();
  optimized(passes::fuse(model), {fill({1, 2, 5, 5}, 1)});
  EXPECT_EQ(model->conv1->weight.tensor().to_floats(), before);
}

MIRROR_CASE(Optimization, fuse_nested_and_linear) {
  const auto model = filled(Nested::create());
  const nn::Linear* const linear = model->block->linear.get();
  optimized(passes::fuse(model), {fill({5, 4}, 1)});
  EXPECT_EQ(model->find_submodule("block.linear"), linear);
}

MIRROR_CASE(Optimization, fuse_not_when_used_elsewhere) {
  optimized(passes::fuse(filled(Convolutions::create(true))),
            {fill({1, 2, 5, 5}, 1)});
}

MIRROR_CASE(Optimization, without_dropout) {
  const auto gm = passes::remove_dropout(filled(Dropping::create()));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({5, 4}, 1)});
}

MIRROR_CASE(Optimization, fuse_in_training) {
  expect_error([] { passes::fuse(Convolutions::create()); });
}

MIRROR_CASE(Optimization, fuse_exact_classes_only) {
  const auto gm = fx::symbolic_trace(filled(WithDerived::create()));
  expect_graph(passes::fuse(gm, /*no_trace=*/true));
}

MIRROR_CASE(Optimization, fuse_two_in_a_row) {
  optimized(passes::fuse(filled(InARow::create())), {fill({2, 2, 5}, 1)});
}

MIRROR_CASE(Optimization, patterns_of_modules) {
  const auto gm = fx::symbolic_trace(filled(Convolutions::create()));
  std::string names;
  for (const fx::Node* node : gm->graph().nodes())
    if (passes::matches_module_pattern<nn::Conv2d, nn::BatchNorm2d>(*gm, *node))
      names += (names.empty() ? "" : " ") + std::string(node->name());
  expect_text("matches", names);
  passes::replace_node_module(*gm, *gm->graph().find_node("bn2"),
                              nn::ReLU::create());
  expect_text("replaced", gm->get_submodule("bn2").type_name());
  expect_outputs(gm, {fill({1, 2, 5, 5}, 1)});
}

MIRROR_CASE(Optimization, extracted_subgraph) {
  const auto model = filled(Convolutions::create());
  const auto gm = fx::symbolic_trace(model);
  auto node = [&](const char* name) { return gm->graph().find_node(name); };
  const auto made = passes::extract_subgraph(
      *model, {node("relu"), node("conv2")}, {node("bn1")},
      {node("conv2"), node("relu")});
  expect_graph(made);
  expect_code(made);
  expect_outputs(made, {fill({1, 4, 5, 5}, 1)});
  expect_error([&] {
    passes::extract_subgraph(*model, {node("bn2")}, {node("bn1")},
                             {node("bn2")});
  });
}

MIRROR_CASE(Optimization, for_inference) {
  const auto model = filled(WithDropout::create());
  const auto compiled = passes::optimize_for_inference(model);
  EXPECT_NE(compiled->native_forward(), nullptr);
  optimized(compiled, {fill({1, 2, 5, 5}, 1)});
  const auto unfused = passes::optimize_for_inference(
      model, {.conv_bn_fuse = false, .compile = false});
  expect_graph(unfused);
  EXPECT_EQ(unfused->native_forward(), nullptr);
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
