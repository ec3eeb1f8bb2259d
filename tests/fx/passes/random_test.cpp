// Random graphs through every pass: each must leave a graph that lints and
// computes the same.
#include <gtest/gtest.h>

#include <random>

#include "fxjit/functions.h"
#include "fxjit/fx/passes.h"
#include "fxjit/fx/subgraph_rewriter.h"

namespace fxjit::fx::passes {
namespace TEST_FILE {

constexpr int kGraphs = 150;

class RandomPasses : public ::testing::Test {
 protected:
  // Calls of few kinds on recent nodes, so that patterns are found, and now and
  // then one call with many inputs.
  nn::Ref<GraphModule> random_module() {
    auto graph = std::make_unique<Graph>();
    std::vector<NodePtr> made = {graph->placeholder("x"),
                                 graph->placeholder("y"), graph->get_attr("w")};
    auto pick = [&] {
      const size_t reach = std::min<size_t>(made.size(), 6);
      return Value(made[made.size() - 1 - random_() % reach]);
    };
    const size_t count = 5 + random_() % 60;
    while (made.size() < count) {
      const char* const names[] = {"torch.neg", "torch.relu", "torch.abs"};
      if (random_() % 3 == 0) {
        made.push_back(graph->call_function("operator.sub", {pick(), pick()}));
      } else if (random_() % 15 == 0) {
        const ValueList all(made.begin(), made.end());
        const NodePtr wide = graph->call_function("torch.stack", {Value::list(all)});
        made.push_back(graph->call_function("torch.sum", {wide, 0}));
      } else {
        made.push_back(graph->call_function(names[random_() % 3], {pick()}));
      }
    }
    ValueList results = {made.back()};
    while (random_() % 2) results.push_back(made[random_() % made.size()]);
    graph->output(Value::tuple(std::move(results)));
    nn::Module root;
    root.set_attr("w", Tensor::from(std::vector<float>{0.5f, -3.f}, {2}));
    return GraphModule::create(root, std::move(graph));
  }

  static std::vector<float> run(GraphModule& gm) {
    const Tensor x = Tensor::from(std::vector<float>{1.f, -2.f}, {2});
    const Tensor y = Tensor::from(std::vector<float>{-0.25f, 4.f}, {2});
    std::vector<float> numbers;
    visit_leaves(gm.forward({x, y}), [&](const Value& leaf) {
      for (float number : leaf.as_tensor().to_floats())
        numbers.push_back(number);
    });
    return numbers;
  }

  // `change` may edit the module or give another.
  void expect_same(
      const std::function<nn::Ref<GraphModule>(nn::Ref<GraphModule>)>& change) {
    for (int i = 0; i < kGraphs && !HasFailure(); ++i) {
      const auto gm = random_module();
      const std::string before = gm->graph().str();
      const std::vector<float> expected = run(*gm);
      const auto changed = change(gm);
      changed->graph().lint();
      EXPECT_EQ(run(*changed), expected) << before << "\n"
                                         << changed->graph().str();
    }
  }

  void expect_rewritten(const Subgraph& pattern, const Subgraph& replacement) {
    size_t found = 0;
    expect_same([&](nn::Ref<GraphModule> gm) {
      found += replace_pattern(*gm, pattern, replacement).size();
      return gm;
    });
    EXPECT_GT(found, size_t{5});
  }

  std::mt19937 random_{20'250};
};

TEST_F(RandomPasses, RewriteOneResult) {
  expect_rewritten([](Value x) -> Value { return neg(x); },
                   [](Value x) -> Value { return x * -1; });
  expect_rewritten([](Value x) -> Value { return neg(neg(x)); },
                   [](Value x) -> Value { return x; });
  expect_rewritten([](Value x, Value y) -> Value { return relu(x - y); },
                   [](Value x, Value y) -> Value { return relu(neg(y - x)); });
}

TEST_F(RandomPasses, RewriteWildcardLists) {
  expect_rewritten(
      [](Value items) -> Value { return sum(stack(items), 0); },
      [](Value items) -> Value { return sum(stack(items), 0) * 1; });
}

TEST_F(RandomPasses, RewriteSeveralResults) {
  expect_rewritten(
      [](Value x) -> Value {
        Value a = neg(x);
        return Value::tuple({a, relu(x)});
      },
      [](Value x) -> Value {
        Value b = relu(x);
        return Value::tuple({x * -1, b});
      });
  expect_rewritten(
      [](Value x, Value y) -> Value {
        Value a = abs(x);
        return Value::tuple({a, a - y});
      },
      [](Value x, Value y) -> Value {
        Value b = neg(y - abs(x));
        return Value::tuple({abs(x), b});
      });
}

TEST_F(RandomPasses, RewriteUnconnectedResults) {
  expect_rewritten(
      [](Value x, Value y) -> Value {
        Value a = neg(x);
        return Value::tuple({a, relu(y)});
      },
      [](Value x, Value y) -> Value {
        Value a = x * -1;
        return Value::tuple({a, relu(y)});
      });
}

TEST_F(RandomPasses, RewriteReturnedWildcard) {
  expect_rewritten([](Value x) -> Value { return Value::tuple({abs(x), x}); },
                   [](Value x) -> Value {
                     Value same = neg(neg(x));
                     return Value::tuple({abs(same), same});
                   });
}

TEST_F(RandomPasses, Split) {
  expect_same([&](nn::Ref<GraphModule> gm) {
    const int64_t length = 1 + random_() % 8;
    int64_t position = 0;
    SplitOptions options;
    options.keep_original_order = random_() % 2;
    options.tuple_return = random_() % 2;
    return split_module(
        *gm, [&](const Node&) { return position++ / length; }, options);
  });
}

TEST_F(RandomPasses, PartitionAndFuse) {
  expect_same([&](nn::Ref<GraphModule> gm) {
    const uint32_t salt = random_();
    const auto support =
        create_op_support([salt](const nn::Module&, const Node& node) {
          return node.is(Opcode::call_function) &&
                 (node.id() * 2654435761u ^ salt) % 3 != 0;
        });
    CapabilityBasedPartitioner partitioner(
        *gm, support, {.allows_single_node_partition = random_() % 2 == 0});
    for (const Partition& partition : partitioner.propose_partitions())
      EXPECT_TRUE(validate_partition(partition.nodes));
    partitioner.partition_and_fuse();
    return gm;
  });
}

TEST_F(RandomPasses, MergeAndFold) {
  expect_same(
      [](nn::Ref<GraphModule> gm) { return CSEPass()(gm).graph_module; });
  expect_same([](nn::Ref<GraphModule> gm) -> nn::Ref<GraphModule> {
    return split_const_subgraphs(*gm);
  });
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx::passes
