// Tensors that follow from named sizes: right for each tuple, shared by tuples
// of the same sizes, and bounded.
#include "src/passes/sized_constants.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/passes/named_graph.h"
#include "src/passes/pipeline.h"
#include "tests/passes/pass_matchers.h"

namespace fxjit::passes {
namespace TEST_FILE {

constexpr int64_t kWidth = 8;

Value positions(const Value& length) { return sin(arange(length) * 0.37); }

// Of inputs [batch, length, 8].
NamedGraph rotated(int64_t batch, int64_t length) {
  const auto module = fx::symbolic_trace(
      [](Value x) {
        const Value rows = unsqueeze(positions(method(x, "size", {1})), -1);
        const Value items = arange(method(x, "size", {0})) * 2.0;
        return x * rows + reshape(items, Dims{-1, 1, 1});
      },
      {"x"}, "rotated");
  auto table = std::make_unique<SizeTable>();
  const SizeTable::Scope scope(*table);
  const Dims sizes{table->name("batch", batch), table->name("length", length),
                   kWidth};
  PipelineOptions options;
  options.serial = true;
  ModelGraph model = run_pipeline(
      *module, ValueList{Tensor::meta(sizes, DType::f32)}, options);
  return NamedGraph(std::move(model), std::move(table));
}

// Those that the graph reads at these sizes.
std::vector<Tensor> constants_at(NamedGraph& graph, int64_t batch,
                                 int64_t length) {
  const std::vector<int64_t> sizes{batch, length};
  const ModelGraph* const model = graph.at(sizes);
  std::vector<Tensor> found;
  if (!model) return found;
  for (const fx::NodePtr node : model->graph->nodes())
    if (node->is(fx::Opcode::get_attr)) found.push_back(model->constant(*node));
  graph.release_constants();
  return found;
}

// How many of them are the same tensors.
int64_t shared(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::ranges::count_if(a, [&](const Tensor& one) {
    return std::ranges::any_of(
        b, [&](const Tensor& other) { return one.is(other); });
  });
}

bool any_is(const std::vector<Tensor>& constants, const Value& wanted) {
  const std::vector<float> numbers = wanted.as_tensor().to_floats();
  return std::ranges::any_of(constants, [&](const Tensor& constant) {
    return constant.to_floats() == numbers;
  });
}

TEST(SizedConstants, AreSharedByTuplesOfTheSizesThatTheyFollowFrom) {
  NamedGraph graph = rotated(3, 9);
  const auto first = constants_at(graph, 3, 9);
  const auto other_batch = constants_at(graph, 5, 9);
  const auto other_length = constants_at(graph, 3, 12);
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(shared(first, other_batch), 1);
  EXPECT_EQ(shared(first, other_length), 1);
  EXPECT_EQ(shared(other_batch, other_length), 0);
  EXPECT_EQ(shared(first, constants_at(graph, 3, 9)), 2);
}

TEST(SizedConstants, AreThoseOfEachTuple) {
  NamedGraph graph = rotated(3, 9);
  for (const int64_t batch : {3, 2, 7, 3})
    for (const int64_t length : {9, 40, 2, 5000}) {
      const auto constants = constants_at(graph, batch, length);
      EXPECT_TRUE(any_is(constants, positions(length))) << length;
      EXPECT_TRUE(any_is(constants, arange(batch) * 2.0)) << batch;
    }
}

TEST(SizedConstants, TakeBoundedMemoryForAllSizes) {
  NamedGraph graph = rotated(3, 9);
  const size_t before = graph.bytes();
  for (int64_t length = 2; length < 3000; ++length)
    ASSERT_EQ(constants_at(graph, 2, length).size(), 2U);
  EXPECT_GT(graph.bytes(), before);
  EXPECT_LE(graph.bytes(), before + (size_t{1} << 20));
  EXPECT_TRUE(any_is(constants_at(graph, 2, 2), positions(2)));
}

}  // namespace TEST_FILE
}  // namespace fxjit::passes
