// GraphModule::to_folder. That torch imports the result is tested where torch
// is (tests/mirror/run_exported.py); here, what the files hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/nn.h"

namespace fxjit::fx {
namespace TEST_FILE {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class ToFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "fxjit_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string read(const char* name) const {
    std::ifstream file(root_ / "out" / name, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  fs::path root_;
};

class Leaf : public nn::Custom<Leaf> {
 public:
  Leaf() : Custom("Leaf", {"x"}) {
    factor = register_parameter("factor", Tensor::full({1}, 3));
  }
  bool is_leaf() const override { return true; }
  Value forward(Value x) { return x * factor; }
  nn::Parameter factor;
};

class Model : public nn::Custom<Model> {
 public:
  Model() : Custom("Model", {"x"}) {
    linear = register_module("linear", nn::Linear::create(2, 3));
    conv = register_module(
        "conv",
        nn::Conv1d::create(1, 1, 3, nn::ConvOptions{.padding = "same"}));
    leaf = register_module("leaf", Leaf::create());
    hidden = register_buffer("hidden", Tensor::full({3}, 2), false);
    kept = register_buffer("kept", Tensor::full({3}, 5));
  }
  Value forward(Value x) {
    return leaf(linear(x)) * hidden + kept + Tensor::full({3}, 7);
  }
  nn::Ref<nn::Linear> linear;
  nn::Ref<nn::Conv1d> conv;
  nn::Ref<Leaf> leaf;
  nn::Buffer hidden, kept;
};

TEST_F(ToFolder, WritesAPackage) {
  const auto gm = symbolic_trace(Model::create());
  gm->eval();
  gm->to_folder(root_ / "out", "MyModel");
  EXPECT_EQ(read("__init__.py"), "from .module import *");
  const std::string text = read("module.py");
  EXPECT_THAT(text, HasSubstr("import torch\n"));
  EXPECT_THAT(text, HasSubstr("class MyModel(torch.nn.Module):\n"
                              "    def __init__(self):\n"
                              "        super().__init__()\n"));
  EXPECT_THAT(text, HasSubstr("self.add_module('linear', Linear("
                              "in_features=2, out_features=3, bias=True))"));
  EXPECT_THAT(text, HasSubstr("self.add_module('leaf', _Module1())"));
  EXPECT_THAT(text, HasSubstr("class _Module1(torch.nn.Module):"));
  EXPECT_THAT(text, HasSubstr("self.eval()"));
  EXPECT_THAT(text, HasSubstr("\n    def forward(self, x):\n"
                              "        linear = self.linear(x);  x = None\n"));
  EXPECT_THAT(read("state_dict.pt"), HasSubstr("linear.weight"));
  EXPECT_THAT(read("state_dict.pt"), HasSubstr("leaf.factor"));
}

TEST_F(ToFolder, LayersSayHowTheyAreMade) {
  EXPECT_THAT(Model::create()->conv->constructor_text(),
              HasSubstr("padding='same'"));
  EXPECT_EQ(Leaf::create()->constructor_text(), "");
}

TEST_F(ToFolder, RefusesWhatItCannotDo) {
  const auto gm = symbolic_trace(Model::create());
  EXPECT_THROW(gm->to_folder(root_ / "out", "not a name"), ValueError);
  EXPECT_THROW(gm->to_folder(root_ / "out", "class"), ValueError);
  EXPECT_THROW(gm->to_folder(root_ / "none" / "out"), RuntimeError);
  EXPECT_FALSE(fs::exists(root_ / "out"));
}

TEST_F(ToFolder, WrapsStandAtTheTop) {
  symbolic_trace([](Value x) -> Value { return x * math::sqrt(len(x)); }, {"x"},
                 "f", {{"x", Tensor::zeros({4})}})
      ->to_folder(root_ / "out");
  symbolic_trace(
      [](Value x) -> Value { return x * math::sqrt(method(x, "size", {0})); },
      {"x"}, "f")
      ->to_folder(root_ / "out");
  const std::string text = read("module.py");
  EXPECT_THAT(text, HasSubstr("from math import sqrt as math_sqrt\n"));
  EXPECT_THAT(text,
              HasSubstr("\ntorch.fx._symbolic_trace.wrap(\"math_sqrt\")\n"));
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
