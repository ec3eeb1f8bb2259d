// Deep copies of modules and graph modules.
#include "fxjit/nn/deep_copy.h"

#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/nn.h"

namespace fxjit::fx {
namespace TEST_FILE {

double first(const Value& value) { return value.as_tensor().to_floats()[0]; }

class Leaf : public nn::Custom<Leaf> {
 public:
  Leaf() : Custom("Leaf", {"x"}) {
    w = register_parameter("w", Tensor::full({1}, 3));
    set_attr("list", Value::list({Tensor::full({1}, 1)}));
  }
  bool is_leaf() const override { return true; }
  Value forward(Value x) { return x * w; }
  nn::Parameter w;
};

class Tied : public nn::Custom<Tied> {
 public:
  Tied() : Custom("Tied", {"x"}) {
    one = register_module("one", Leaf::create());
    two = register_module("two", one);
    own = register_parameter("own", one->w);
  }
  Value forward(Value x) { return two(one(x)) + own; }
  nn::Ref<Leaf> one, two;
  nn::Parameter own;
};

class Fixed : public nn::Custom<Fixed> {
 public:
  Fixed() : Custom("Fixed", {"x"}) {}
  Fixed(const Fixed&) = delete;
  Value forward(Value x) { return x; }
};

class Derived : public Leaf {};

TEST(DeepCopy, HandlesOfAClassNameTheCopy) {
  const auto original = Tied::create();
  const auto copy = nn::deep_copy_as(*original);
  EXPECT_NE(copy->one.get(), original->one.get());
  EXPECT_EQ(copy->one.get(), copy->two.get());
  EXPECT_EQ(copy->own, copy->one->w);
  EXPECT_EQ(copy->children().find("one")->get(), copy->one.get());
  copy->own.set_tensor(Tensor::full({1}, 10));
  EXPECT_EQ(first(nn::Ref<Tied>(copy)(Tensor::full({1}, 1))), 110);
  EXPECT_EQ(first(original(Tensor::full({1}, 1))), 12);
  EXPECT_FALSE(copy->one->attr("list").at(0).as_tensor().is(
      original->one->attr("list").at(0).as_tensor()));
}

TEST(DeepCopy, OfGraphModules) {
  const auto gm = symbolic_trace(Tied::create());
  gm->graph().find_nodes(Opcode::call_module)[0]->meta().set("tag", 1);
  const auto copy = gm->deep_copy();
  EXPECT_EQ(copy->code(), gm->code());
  EXPECT_EQ(copy->graph().owning_module(), copy.get());
  EXPECT_TRUE(
      copy->graph().find_nodes(Opcode::call_module)[0]->meta().contains("tag"));
  copy->get_parameter("own").set_tensor(Tensor::full({1}, 10));
  EXPECT_EQ(first(copy(Tensor::full({1}, 1))), 110);
  EXPECT_EQ(first(gm(Tensor::full({1}, 1))), 12);
}

TEST(DeepCopy, HandlesAreSharedOtherwise) {
  const auto leaf = Leaf::create();
  const nn::Ref<Leaf> same = leaf;
  EXPECT_EQ(same, leaf);
  EXPECT_EQ(nn::DeepCopy::active(), nullptr);
}

TEST(DeepCopy, RefusesClassesThatCannotBeCopied) {
  EXPECT_THROW(nn::deep_copy(*Fixed::create()), NotImplementedError);
  const Derived derived;
  EXPECT_THROW(nn::deep_copy(derived), NotImplementedError);
  EXPECT_EQ(nn::DeepCopy::active(), nullptr);
}

TEST(DeepCopy, LibraryModules) {
  const auto model = nn::Sequential::create(
      nn::Linear::create(2, 2), nn::BatchNorm1d::create(2),
      nn::ModuleList::create(nn::ReLU::create()),
      nn::ModuleDict::create({{"a", nn::Conv2d::create(1, 1, 3)}}));
  const auto copy = nn::deep_copy(*model);
  EXPECT_EQ(copy->repr(), model->repr());
  const auto before = model->state_dict();
  const auto after = copy->state_dict();
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].first, after[i].first);
    EXPECT_NE(before[i].second.data(), after[i].second.data());
    EXPECT_EQ(before[i].second.to_floats(), after[i].second.to_floats());
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
