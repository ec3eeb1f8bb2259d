// Tracing of what sizes and keys give, and the lines that nodes remember.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/nn.h"

namespace fxjit::fx {
namespace TEST_FILE {

using ::testing::HasSubstr;

class Block : public nn::Custom<Block> {
 public:
  Block() : Custom("Block", {"x"}) {
    scale = register_module("scale", nn::ReLU::create());
  }
  Value forward(Value x) { return relu(scale(x)); }
  nn::Ref<nn::ReLU> scale;
};

class Model : public nn::Custom<Model> {
 public:
  Model() : Custom("Model", {"x"}) {
    first = register_module("first", Block::create());
  }
  Value forward(Value x) {
    const Value a = first(x);
    return a * 2;
  }
  nn::Ref<Block> first;
};

template <typename F>
nn::Ref<GraphModule> trace1(F function) {
  return symbolic_trace(function, {"x"}, "f");
}

TEST(Trace, StackTracesHoldEachLineOnce) {
  Tracer tracer;
  tracer.record_stack_traces = true;
  const auto graph = tracer.trace(*Model::create());
  const auto lines = [&](const char* name) {
    const std::string trace = graph->find_node(name)->stack_trace();
    size_t count = 0;
    for (size_t at = trace.find("line "); at != trace.npos;
         at = trace.find("line ", at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(lines("mul"), 1u);          // In Model.
  EXPECT_EQ(lines("relu"), 2u);         // In Block, called by Model.
  EXPECT_EQ(lines("first_scale"), 2u);  // The call of the leaf is its line.
}

TEST(Trace, SizeDependentConstructorsAreRecorded) {
  const auto gm = trace1([](Value x) -> Value {
    const Value rows = method(x, "size", {0});
    const Value columns = getitem(getattr(x, "shape"), 1);
    const Value zero = function("torch.zeros", {rows, columns});
    const Value ramp = function("torch.arange", {columns});
    const Value one = function("torch.ones", {Value::tuple({rows, 1})});
    const Value two = function("torch.full", {Value::tuple({columns}), 2.0});
    return x + zero + ramp + one + two;
  });
  EXPECT_EQ(gm->code(),
            "\n\n\n"
            "def forward(self, x):\n"
            "    size = x.size(0)\n"
            "    getattr_1 = x.shape\n"
            "    getitem = getattr_1[1];  getattr_1 = None\n"
            "    zeros = torch.zeros(size, getitem)\n"
            "    arange = torch.arange(getitem)\n"
            "    ones = torch.ones((size, 1));  size = None\n"
            "    full = torch.full((getitem,), 2.0);  getitem = None\n"
            "    add = x + zeros;  x = zeros = None\n"
            "    add_1 = add + arange;  add = arange = None\n"
            "    add_2 = add_1 + ones;  add_1 = ones = None\n"
            "    add_3 = add_2 + full;  add_2 = full = None\n"
            "    return add_3\n    ");
  EXPECT_EQ(gm(Tensor::full({2, 3}, 1)).as_tensor().at({1, 2}), 6);
}

TEST(Trace, KeysOfADictAndOfAProxy) {
  EXPECT_EQ(repr(keys(Value::dict({{"a", 1}, {"b", 2}}))), "['a', 'b']");
  EXPECT_THAT(trace1([](Value x) -> Value { return keys(x); })->code(),
              HasSubstr("keys = x.keys()"));
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
