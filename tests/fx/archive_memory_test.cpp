// Saved modules whose tensors share memory, or are written by their graphs.
#include <gtest/gtest.h>

#include "fxjit/fx.h"
#include "fxjit/fx/passes.h"
#include "fxjit/nn.h"
#include "tests/fx/archive_testing.h"

namespace fxjit::fx {
namespace TEST_FILE {

using testing_archive::round_trip;

Tensor ramp(const Dims& sizes, DType dtype = DType::f32) {
  Tensor t = Tensor::empty(sizes, DType::f64);
  for (int64_t i = 0; i < t.numel(); ++i)
    t.data_as<double>()[i] = static_cast<double>(i % 2);
  return t.to(dtype);
}

void expect_equal(const Value& got, const Value& expected) {
  ASSERT_EQ(got.kind(), expected.kind());
  if (got.is_sequence()) {
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i)
      expect_equal(got.at(i), expected.at(i));
    return;
  }
  ASSERT_TRUE(got.is_tensor());
  EXPECT_EQ(got.as_tensor().describe(), expected.as_tensor().describe());
  EXPECT_EQ(got.as_tensor().to(DType::f32).to_floats(),
            expected.as_tensor().to(DType::f32).to_floats());
}

// Loaded and saved modules give the same in calls that follow each other.
nn::Ref<GraphModule> expect_same_calls(const nn::Ref<GraphModule>& gm,
                                       const ValueList& inputs) {
  const auto loaded = round_trip(*gm);
  EXPECT_EQ(loaded->code(), gm->code());
  for (int i = 0; i < 3; ++i)
    expect_equal(loaded->call(inputs, {}), gm->call(inputs, {}));
  return loaded;
}

// Adds one to "a", then reads all.
nn::Ref<GraphModule> writer_of(const nn::AttributeMap& members) {
  auto graph = std::make_unique<Graph>();
  ValueList read;
  for (const auto& [name, member] : members)
    read.emplace_back(graph->get_attr(name));
  graph->call_method("add_", {read[0], 1});
  graph->output(Value::tuple(std::move(read)));
  return std::make_shared<GraphModule>(members, std::move(graph));
}

TEST(ArchiveMemory, ViewsOfOneTensor) {
  const Tensor all = ramp({4, 3});
  const auto loaded = expect_same_calls(
      writer_of({{"a", nn::Buffer(all.as_strided({3}, {1}, 3))},
                 {"all", nn::Buffer(all)},
                 {"column", nn::Parameter(all.as_strided({4}, {3}, 1))}}),
      {});
  EXPECT_EQ(loaded->get_buffer("a").tensor().storage(),
            loaded->get_buffer("all").tensor().storage());
}

TEST(ArchiveMemory, OverlapsWithoutAWhole) {
  const Tensor all = ramp({8});
  expect_same_calls(
      writer_of({{"a", nn::Buffer(all.as_strided({4}, {1}, 1))},
                 {"b", nn::Buffer(all.as_strided({4}, {1}, 3))},
                 {"bytes", nn::Buffer(Tensor::view(all.storage(), {8},
                                                   DType::u8, {1}, 12))},
                 {"apart", nn::Buffer(all.as_strided({1}, {1}, 7))},
                 {"again", nn::Buffer(all.as_strided({4}, {1}, 1))}}),
      {});
}

TEST(ArchiveMemory, NeighboursInOneStorageAreTensorsOfTheirOwn) {
  const Tensor all = ramp({8});
  const auto loaded = expect_same_calls(
      writer_of({{"a", nn::Buffer(all.as_strided({4}, {1}, 0))},
                 {"b", nn::Buffer(all.as_strided({4}, {1}, 4))}}),
      {});
  EXPECT_NE(loaded->get_buffer("a").tensor().storage(),
            loaded->get_buffer("b").tensor().storage());
}

TEST(ArchiveMemory, EveryTypeAndNoElements) {
  for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16,
                      DType::i8, DType::u8, DType::i16, DType::i32, DType::i64,
                      DType::boolean})
    for (const Dims& sizes : {Dims{}, Dims{0, 3}, Dims{2, 3}}) {
      auto graph = std::make_unique<Graph>();
      graph->output(Value::tuple({graph->get_attr("a"), graph->get_attr("b")}));
      const Tensor t = ramp(sizes, dtype);
      expect_same_calls(std::make_shared<GraphModule>(
                            nn::AttributeMap{{"a", nn::Buffer(t)},
                                             {"b", nn::Buffer(t)}},
                            std::move(graph)),
                        {});
    }
}

TEST(ArchiveMemory, StatisticsOfTraining) {
  struct Net : nn::Custom<Net> {
    Net() : Custom("Net", {"x"}) {
      norm = register_module("norm", nn::BatchNorm1d::create(3));
    }
    Value forward(Value x) { return norm(x); }
    nn::Ref<nn::BatchNorm1d> norm;
  };
  const auto gm = symbolic_trace(Net::create());
  const auto loaded = expect_same_calls(gm, {ramp({5, 3})});
  for (const char* name :
       {"norm.running_mean", "norm.running_var", "norm.num_batches_tracked"})
    expect_equal(loaded->get_buffer(name).value(),
                 gm->get_buffer(name).value());
  EXPECT_EQ(gm->get_buffer("norm.num_batches_tracked").tensor().item(), 3);
}

TEST(ArchiveMemory, FoldedConstants) {
  for (int values : {0, 1, 2}) {
    auto graph = std::make_unique<Graph>();
    NodePtr sum = graph->placeholder("x");
    const NodePtr w = graph->get_attr("w");
    for (int i = 0; i < values; ++i)
      sum = graph->call_function(
          "_operator.add", {sum, graph->call_function("_operator.mul", {w, i})});
    graph->output(graph->call_function("_operator.mul", {sum, w}));
    nn::Module root;
    root.register_parameter("w", ramp({3}));
    const auto folded =
        passes::split_const_subgraphs(GraphModule(root, std::move(graph)));
    expect_same_calls(folded, {ramp({3})});
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
