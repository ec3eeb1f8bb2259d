// Ensembles of trees of ai.onnx.ml beside a walk written out here: all modes,
// NaN, several targets, and numbers of rows around those that go side by side.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "fxjit/compile.h"
#include "tests/onnx/both_ways.h"
#include "tests/onnx/single_ops.h"

namespace fxjit::testing_onnx {
namespace TEST_FILE {

constexpr int64_t kDouble = 11;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

Message model_of_trees(const Message& node, int64_t type, int64_t columns,
                       int64_t targets) {
  return model(graph({{node},
                      {value_info("x", type, {-1, columns})},
                      {value_info("y", kFloat, {-1, targets})},
                      {}}))
      .add(8, Message().text(1, kMl).number(2, 3));
}

struct Node {
  std::string mode = "LEAF";
  int64_t feature = 0;
  float value = 0;
  bool nan_is_true = false;
  int64_t on_true = 0, on_false = 0;
  std::vector<std::pair<int64_t, float>> weights = {};  // Target and weight.
};
using Tree = std::vector<Node>;

struct Kind {
  std::vector<std::string> modes;
  bool tracks_nan = false;
  int64_t targets = 1;
  std::string aggregate = "SUM";
};

class Trees {
 public:
  Trees(const Kind& kind, int64_t features, unsigned seed)
      : kind_(kind), features_(features), random_(seed) {
    for (int t = 0; t < 11; ++t) {
      trees_.emplace_back();
      grow(trees_.back(), t % 6);
    }
  }

  Message node() const {
    std::vector<int64_t> trees, ids, features, on_true, on_false, tracks,
        of_tree, of_node, targets;
    std::vector<float> values, weights;
    std::vector<std::string> modes;
    for (size_t t = 0; t < trees_.size(); ++t)
      for (size_t i = 0; i < trees_[t].size(); ++i) {
        const Node& one = trees_[t][i];
        trees.push_back(static_cast<int64_t>(t));
        ids.push_back(static_cast<int64_t>(i));
        features.push_back(one.feature);
        on_true.push_back(one.on_true);
        on_false.push_back(one.on_false);
        tracks.push_back(one.nan_is_true ? 1 : 0);
        values.push_back(one.value);
        modes.push_back(one.mode);
        for (const auto& [target, weight] : one.weights) {
          of_tree.push_back(static_cast<int64_t>(t));
          of_node.push_back(static_cast<int64_t>(i));
          targets.push_back(target);
          weights.push_back(weight);
        }
      }
    return testing_onnx::node(
        "TreeEnsembleRegressor", {"x"}, {"y"},
        {ints_attribute("nodes_treeids", trees),
         ints_attribute("nodes_nodeids", ids),
         ints_attribute("nodes_featureids", features),
         ints_attribute("nodes_truenodeids", on_true),
         ints_attribute("nodes_falsenodeids", on_false),
         ints_attribute("nodes_missing_value_tracks_true", tracks),
         reals_attribute("nodes_values", values),
         texts_attribute("nodes_modes", modes),
         ints_attribute("target_treeids", of_tree),
         ints_attribute("target_nodeids", of_node),
         ints_attribute("target_ids", targets),
         reals_attribute("target_weights", weights),
         int_attribute("n_targets", kind_.targets),
         text_attribute("aggregate_function", kind_.aggregate)},
        kMl);
  }

  // The sums of one row.
  std::vector<double> operator()(const std::vector<double>& row) const {
    std::vector<std::vector<double>> given(static_cast<size_t>(kind_.targets));
    for (const Tree& tree : trees_)
      for (const auto& [target, weight] : leaf_of(tree, row).weights)
        given[static_cast<size_t>(target)].push_back(weight);
    std::vector<double> sums;
    for (const std::vector<double>& numbers : given)
      sums.push_back(aggregated(numbers));
    return sums;
  }

  std::vector<double> row() {
    std::vector<double> numbers;
    for (int64_t i = 0; i < features_; ++i)
      numbers.push_back(drawn(20) == 0 ? kNaN : quarter());
    return numbers;
  }

 private:
  int64_t drawn(int64_t below) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(below));
  }
  // Of few numbers, so that they are equal often.
  float quarter() { return static_cast<float>(drawn(17) - 8) / 4; }

  int64_t grow(Tree& tree, int depth) {
    const size_t place = tree.size();
    tree.emplace_back();
    Node made;
    if (depth == 0 || drawn(5) == 0) {
      made.weights = {{drawn(kind_.targets), quarter()}};
      if (kind_.targets > 1) made.weights.push_back({0, quarter()});
    } else {
      made.mode = kind_.modes[static_cast<size_t>(
          drawn(static_cast<int64_t>(kind_.modes.size())))];
      made.feature = drawn(features_);
      made.value = quarter();
      made.nan_is_true = kind_.tracks_nan && drawn(2) == 0;
      made.on_true = grow(tree, depth - 1);
      made.on_false = grow(tree, depth - 1);
    }
    tree[place] = made;
    return static_cast<int64_t>(place);
  }

  static bool holds(const Node& node, double x) {
    if (std::isnan(x) && node.nan_is_true) return true;
    const double v = node.value;
    return node.mode == "BRANCH_LEQ"   ? x <= v
           : node.mode == "BRANCH_LT"  ? x < v
           : node.mode == "BRANCH_GTE" ? x >= v
           : node.mode == "BRANCH_GT"  ? x > v
           : node.mode == "BRANCH_EQ"  ? x == v
                                       : x != v;
  }

  static const Node& leaf_of(const Tree& tree, const std::vector<double>& row) {
    const Node* node = &tree[0];
    while (node->mode != "LEAF")
      node = &tree[static_cast<size_t>(
          holds(*node, row[static_cast<size_t>(node->feature)])
              ? node->on_true
              : node->on_false)];
    return *node;
  }

  double aggregated(const std::vector<double>& numbers) const {
    double sum = 0;
    for (const double one : numbers) sum += one;
    if (kind_.aggregate == "SUM") return sum;
    if (kind_.aggregate == "AVERAGE")
      return sum / static_cast<double>(trees_.size());
    if (numbers.empty()) return 0;
    return kind_.aggregate == "MIN" ? *std::ranges::min_element(numbers)
                                    : *std::ranges::max_element(numbers);
  }

  const Kind kind_;
  const int64_t features_;
  std::mt19937_64 random_;
  std::vector<Tree> trees_;
};

void expect_sums(const Kind& kind, int64_t type, unsigned seed) {
  Trees trees(kind, 5, seed);
  const Both both(model_of_trees(trees.node(), type, 5, kind.targets));
  for (const int64_t count : {1, 2, 7, 8, 9, 17, 1000}) {
    const Tensor x = Tensor::empty({count, 5}, DType::f64);
    std::vector<float> expected;
    for (int64_t i = 0; i < count; ++i) {
      const std::vector<double> row = trees.row();
      std::ranges::copy(row, x.data_as<double>() + i * 5);
      for (const double sum : trees(row))
        expected.push_back(static_cast<float>(sum));
    }
    const DType dtype = type == kFloat ? DType::f32 : DType::f64;
    EXPECT_EQ(both({x.to(dtype)}), expected) << count << " rows";
  }
  EXPECT_TRUE(both.native());
}

void expect_all(const std::vector<std::string>& modes) {
  for (const int64_t type : {kFloat, kDouble})
    for (const bool tracks_nan : {false, true})
      for (const int64_t targets : {1, 3}) {
        SCOPED_TRACE(modes[0] + (tracks_nan ? ", NaN" : ""));
        expect_sums({modes, tracks_nan, targets}, type, 7);
      }
}

TEST(Trees, OneComparison) {
  expect_all({"BRANCH_LEQ"});
  expect_all({"BRANCH_LT"});
  expect_all({"BRANCH_LEQ", "BRANCH_GT"});
  expect_all({"BRANCH_GTE", "BRANCH_LT"});
}

TEST(Trees, SeveralComparisons) {
  expect_all({"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ",
              "BRANCH_NEQ"});
  expect_all({"BRANCH_EQ"});
}

TEST(Trees, Aggregates) {
  for (const char* aggregate : {"SUM", "AVERAGE", "MIN", "MAX"})
    for (const int64_t targets : {1, 3})
      expect_sums({{"BRANCH_LEQ"}, false, targets, aggregate}, kFloat, 3);
}

TEST(Trees, WithoutFeatures) {
  const Message leaf = node(
      "TreeEnsembleRegressor", {"x"}, {"y"},
      {ints_attribute("nodes_treeids", {0}),
       ints_attribute("nodes_nodeids", {0}),
       ints_attribute("nodes_featureids", {0}),
       ints_attribute("nodes_truenodeids", {0}),
       ints_attribute("nodes_falsenodeids", {0}),
       reals_attribute("nodes_values", {0}),
       texts_attribute("nodes_modes", {"LEAF"}),
       ints_attribute("target_treeids", {0}),
       ints_attribute("target_nodeids", {0}), ints_attribute("target_ids", {0}),
       reals_attribute("target_weights", {2.5f})},
      kMl);
  const Both both(model_of_trees(leaf, kFloat, -1, 1));
  EXPECT_EQ(both({Tensor::zeros({2, 0})}), (std::vector<float>{2.5f, 2.5f}));
  EXPECT_EQ(both({Tensor::zeros({0, 3})}), std::vector<float>());
}

}  // namespace TEST_FILE
}  // namespace fxjit::testing_onnx
