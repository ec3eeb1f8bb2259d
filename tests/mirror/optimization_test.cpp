// experimental.optimization: fusing of batch norms, removing of dropout.
#include "fxjit/fx/passes/optimization.h"
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {
namespace {

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

}  // namespace

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

}  // namespace fxjit::mirror
