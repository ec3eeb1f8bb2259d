// replace_pattern where torch goes wrong or has no answer: sizes, refusals,
// results that are wired crosswise.
#include "fxjit/fx/subgraph_rewriter.h"

#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "tests/support/sanitizers.h"

namespace fxjit::fx {
namespace TEST_FILE {

constexpr int kNodes = fxjit::testing::kSanitizer ? 50'000 : 1'000'000;

Tensor ones(const Dims& sizes) {
  return fxjit::ones(sizes).as_tensor();
}

const Target kNeg = ops::get_function("torch.neg");
const Target kRelu = ops::get_function("torch.relu");

Value neg_of(Value x) { return neg(x); }
Value relu_of(Value x) { return relu(x); }

nn::Ref<GraphModule> module_of(std::unique_ptr<Graph> graph) {
  return GraphModule::create(nn::Module(), std::move(graph));
}

nn::Ref<GraphModule> chain(const Target& target, int count) {
  auto graph = std::make_unique<Graph>();
  NodePtr x = graph->placeholder("x");
  for (int i = 0; i < count; ++i) x = graph->call_function(target, {x});
  graph->output(x);
  return module_of(std::move(graph));
}

size_t count_calls(const GraphModule& gm, const Target& target) {
  return gm.graph().find_nodes(Opcode::call_function, target).size();
}

TEST(Rewriter, ChainOfMatches) {
  const auto gm = chain(kNeg, kNodes);
  EXPECT_EQ(replace_pattern(*gm, neg_of, relu_of).size(), size_t{kNodes});
  EXPECT_EQ(count_calls(*gm, kRelu), size_t{kNodes});
  EXPECT_EQ(count_calls(*gm, kNeg), 0u);
}

TEST(Rewriter, WideGraphWithOneUserOfAllMatches) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  ValueList results;
  for (int i = 0; i < kNodes; ++i)
    results.push_back(graph->call_function(kNeg, {x}));
  const NodePtr stacked = graph->call_function("torch.stack", {Value::list(results)});
  graph->output(stacked);
  const auto gm = module_of(std::move(graph));
  EXPECT_EQ(replace_pattern(*gm, neg_of, relu_of).size(), size_t{kNodes});
  EXPECT_EQ(gm->graph().size(), size_t{kNodes} + 3);
  EXPECT_EQ(count_calls(*gm, kNeg), 0u);
}

TEST(Rewriter, IdentityReplacementsOfALongChain) {
  const auto gm = chain(kNeg, kNodes);
  const auto replaced = replace_pattern_with_filters(
      *gm, [](Value x) -> Value { return neg(neg(x)); },
      [](Value x) -> Value { return x; });
  EXPECT_EQ(replaced.size(), size_t{kNodes / 2});
  EXPECT_TRUE(replaced.back().replacements.empty());
  EXPECT_EQ(gm->graph().size(), 2u);
}

TEST(Rewriter, PairsOfResultsThatShareOneInput) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  NodePtr sum = x;
  const int count = kNodes / 10;
  for (int i = 0; i < count; ++i) {
    const NodePtr a = graph->call_function(kNeg, {x});
    const NodePtr b = graph->call_function(kRelu, {x});
    const NodePtr both = graph->call_function("operator.add", {a, b});
    sum = graph->call_function("operator.mul", {sum, both});
  }
  graph->output(sum);
  const auto gm = module_of(std::move(graph));
  const auto found = replace_pattern(
      *gm,
      [](Value v) -> Value {
        Value a = neg(v);
        return Value::tuple({a, relu(v)});
      },
      [](Value v) -> Value {
        Value a = exp(v);
        return Value::tuple({a, a});
      });
  EXPECT_EQ(found.size(), static_cast<size_t>(count));
  EXPECT_EQ(count_calls(*gm, kNeg) + count_calls(*gm, kRelu), 0u);
}

// The second result's input is made behind the first result's user.
TEST(Rewriter, InputsBehindTheFirstUserAreMovedForward) {
  const auto gm = symbolic_trace(
      [](Value x, Value z) -> Value {
        Value a = relu(x);
        Value user = neg(a);
        Value y = sigmoid(z);
        Value b = a + y;
        return user * b;
      },
      {"x", "z"});
  const Value before = gm(ones({1}), ones({1}));
  const auto found = replace_pattern(
      *gm,
      [](Value x, Value y) -> Value {
        Value a = relu(x);
        return Value::tuple({a, a + y});
      },
      [](Value x, Value y) -> Value {
        Value b = relu(x) + y;
        return Value::tuple({b - y, b});
      });
  EXPECT_EQ(found.size(), 1u);
  const Value after = gm(ones({1}), ones({1}));
  EXPECT_TRUE(same(before.as_tensor().item(), after.as_tensor().item()));
}

// Each match alone could be computed at once; both together would wait for each
// other, so the second stays.
TEST(Rewriter, MatchesThatWouldCloseACycleTogether) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value {
        Value a1 = neg(x);
        Value a2 = neg(y);
        Value b1 = relu(a2);
        Value b2 = relu(a1);
        return b1 + b2;
      },
      {"x", "y"});
  const auto found = replace_pattern(
      *gm,
      [](Value x, Value y) -> Value {
        Value a = neg(x);
        return Value::tuple({a, relu(y)});
      },
      [](Value x, Value y) -> Value {
        Value a = x + y;
        return Value::tuple({a, a});
      });
  EXPECT_LT(found.size(), 2u);
  gm->graph().lint();
}

TEST(Rewriter, NestedNodesOfAWildcardFollowEarlierReplacements) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value {
        return cat({cat({cat({x, y}, 0), x}, 0), y}, 0);
      },
      {"x", "y"});
  const auto found = replace_pattern(
      *gm, [](Value tensors) -> Value { return cat(tensors, 0); },
      [](Value tensors) -> Value { return stack(tensors, 0); });
  EXPECT_EQ(found.size(), 3u);
  EXPECT_TRUE(gm->graph().find_nodes(Opcode::call_function,
                                     ops::get_function("torch.cat"))
                  .empty());
}

TEST(Rewriter, ResultThatIsAWildcardKeepsFeedingTheReplacement) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        Value s = sigmoid(x);
        Value a = relu(s);
        return a + s;
      },
      {"x"});
  replace_pattern(
      *gm, [](Value x) -> Value { return Value::tuple({relu(x), x}); },
      [](Value x) -> Value {
        Value a = neg(x);
        return Value::tuple({a, abs(x)});
      });
  EXPECT_EQ(gm(Tensor::zeros({1})).as_tensor().item(), 0.0);
}

TEST(Rewriter, TensorsOfATracedReplacementGetNamesOfTheirOwn) {
  const Tensor one = ones({1});
  const Tensor two = (Value(one) + Value(one)).as_tensor();
  const auto gm = symbolic_trace(
      [&](Value x) -> Value { return neg(x + Value(one)); }, {"x"});
  replace_pattern(*gm, neg_of,
                  [&](Value x) -> Value { return x * Value(two); });
  EXPECT_EQ(gm(ones({1})).as_tensor().item(), 4.0);
}

class RefusedRewrite : public ::testing::Test {
 protected:
  template <typename E>
  void expect_refused(const Subgraph& pattern, const Subgraph& replacement,
                      const std::string& part) {
    try {
      replace_pattern(*gm_, pattern, replacement);
      ADD_FAILURE() << "expected an error with " << part;
    } catch (const E& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << error.what();
    }
    EXPECT_EQ(gm_->graph().str(), before_);
    gm_->graph().lint();
  }

  nn::Ref<GraphModule> gm_ = symbolic_trace(
      [](Value x) -> Value { return relu(add(neg(x), 2)); }, {"x"});
  std::string before_ = gm_->graph().str();
};

TEST_F(RefusedRewrite, MissingAttribute) {
  Graph graph;
  graph.output(graph.call_module("absent", {graph.placeholder("x")}));
  expect_refused<RuntimeError>(
      neg_of, graph,
      "Attempted to create a \"call_module\" node during subgraph rewriting "
      "with target absent");
}

TEST_F(RefusedRewrite, LiteralAsResult) {
  expect_refused<TypeError>(
      [](Value x, Value n) -> Value { return add(x, n); },
      [](Value, Value n) -> Value { return n; }, "expected a node, got int");
}

TEST_F(RefusedRewrite, DisconnectedPattern) {
  Graph pattern;
  const NodePtr x = pattern.placeholder("x");
  pattern.placeholder("unused");
  pattern.output(pattern.call_function(kNeg, {x}));
  expect_refused<KeyError>(pattern, neg_of, "unused");
}

TEST_F(RefusedRewrite, IllFormedReplacement) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr a = graph.call_function(kNeg, {x});
  const NodePtr b = graph.call_function(kNeg, {x});
  a->set_args({b});
  graph.output(a);
  expect_refused<RuntimeError>(neg_of, graph,
                               "was used before it has been defined");
}

TEST(SubgraphMatcher, NameNodeMap) {
  const auto pattern = symbolic_trace(
      [](Value x) -> Value {
        Value inner = neg(x);
        Value outer = relu(inner);
        return Value::tuple(
            {outer, Value::dict({{"inner", inner}, {"outer", outer}})});
      },
      {"x"});
  const auto gm = symbolic_trace(
      [](Value x) -> Value { return relu(neg(sigmoid(x))); }, {"x"});
  const passes::SubgraphMatcherWithNameNodeMap matcher(pattern->graph());
  const auto matches = matcher.match(gm->graph());
  ASSERT_EQ(matches.size(), 1u);
  ASSERT_EQ(matches[0].name_node_map.size(), 2u);
  EXPECT_EQ(matches[0].name_node_map[0].first, "inner");
  EXPECT_EQ(matches[0].name_node_map[0].second->name(), "neg");
  EXPECT_EQ(matches[0].name_node_map[1].second->name(), "relu");
  EXPECT_THROW(passes::SubgraphMatcherWithNameNodeMap{gm->graph()}, ValueError);
}

TEST(SubgraphMatcher, CompareGraphs) {
  const auto a = symbolic_trace(neg_of, {"x"});
  const auto b = symbolic_trace(neg_of, {"other"});
  const auto c = symbolic_trace(relu_of, {"x"});
  EXPECT_TRUE(passes::compare_graphs(a->graph(), b->graph()));
  EXPECT_FALSE(passes::compare_graphs(a->graph(), c->graph()));
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
