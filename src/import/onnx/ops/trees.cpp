// Ensembles of trees of ai.onnx.ml whose leaves are nodes among the others.
#include <algorithm>
#include <map>
#include <set>

#include "fxjit/error.h"
#include "src/import/onnx/ops/tree_packing.h"

namespace fxjit::onnx {
namespace {

using ops::TreeAggregate;
using ops::TreeMode;

// By the numbers of TreeMode.
constexpr std::string_view kModes[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                       "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ",
                                       "",           "LEAF"};

class EnsembleReader {
 public:
  // `leaves` is "target" or "class", the beginning of the weights' attributes.
  EnsembleReader(const Call& call, std::string leaves)
      : call_(call), lists_(call), leaves_(std::move(leaves)) {}

  TreeEnsemble run() {
    read_nodes();
    read_weights();
    for (size_t i = 0; i < modes_.size(); ++i) link(i);
    return std::move(made_);
  }

 private:
  using Key = std::pair<int64_t, int64_t>;  // Tree and node.

  std::vector<int64_t> ints(const std::string& name) const {
    return lists_.integers(name);
  }
  // A list of floats, or a tensor of doubles in its place.
  std::vector<double> reals(const std::string& name) const {
    if (auto found = call_.reals(name)) return *found;
    return lists_.reals(name + "_as_tensor", name);
  }

  void read_nodes() {
    trees_ = ints("nodes_treeids");
    ids_ = ints("nodes_nodeids");
    features_ = ints("nodes_featureids");
    true_ = ints("nodes_truenodeids");
    false_ = ints("nodes_falsenodeids");
    values_ = reals("nodes_values");
    modes_ = call_.texts("nodes_modes");
    if (auto tracks = call_.integers("nodes_missing_value_tracks_true"))
      tracks_ = std::move(*tracks);
    const size_t count = trees_.size();
    lists_.check_count("nodes_nodeids", ids_.size(), count);
    lists_.check_count("nodes_featureids", features_.size(), count);
    lists_.check_count("nodes_truenodeids", true_.size(), count);
    lists_.check_count("nodes_falsenodeids", false_.size(), count);
    lists_.check_count("nodes_values", values_.size(), count);
    lists_.check_count("nodes_modes", modes_.size(), count);
    made_.parts.resize(count);
    for (size_t i = 0; i < count; ++i) {
      if (!places_.emplace(Key{trees_[i], ids_[i]}, i).second)
        call_.fail("nodes_nodeids: a node is there twice");
      if (i == 0 || trees_[i] != trees_[i - 1])
        made_.roots.push_back(static_cast<int32_t>(i));
    }
  }

  void read_weights() {
    const auto trees = ints(leaves_ + "_treeids");
    const auto nodes = ints(leaves_ + "_nodeids");
    const auto targets = ints(leaves_ + "_ids");
    const auto weights = reals(leaves_ + "_weights");
    lists_.check_count("leaves", nodes.size(), trees.size());
    lists_.check_count("leaves", targets.size(), trees.size());
    lists_.check_count("leaves", weights.size(), trees.size());
    for (size_t i = 0; i < trees.size(); ++i)
      of_leaves_[place_of({trees[i], nodes[i]})].push_back(
          {targets[i], weights[i]});
  }

  size_t place_of(const Key& key) const {
    const auto found = places_.find(key);
    if (found == places_.end())
      call_.fail("tree " + std::to_string(key.first) + " has no node " +
                 std::to_string(key.second));
    return found->second;
  }

  void link(size_t i) {
    TreePart& node = made_.parts[i];
    const auto mode =
        std::find(std::begin(kModes), std::end(kModes), modes_[i]);
    if (modes_[i].empty() || mode == std::end(kModes))
      call_.fail("nodes_modes: \"" + std::string(modes_[i]) + "\" is unknown");
    node.mode = static_cast<TreeMode>(mode - std::begin(kModes));
    node.value = values_[i];
    if (node.mode == TreeMode::leaf) {
      node.on_true = static_cast<int32_t>(made_.weights.size());
      if (const auto own = of_leaves_.find(i); own != of_leaves_.end())
        made_.weights.insert(made_.weights.end(), own->second.begin(),
                             own->second.end());
      node.on_false = static_cast<int32_t>(made_.weights.size());
      return;
    }
    if (features_[i] < 0 || features_[i] > (1 << 30))
      call_.fail("nodes_featureids: " + std::to_string(features_[i]));
    node.nan_is_true = i < tracks_.size() && tracks_[i] != 0;
    node.feature = static_cast<int32_t>(features_[i]);
    node.on_true = static_cast<int32_t>(place_of({trees_[i], true_[i]}));
    node.on_false = static_cast<int32_t>(place_of({trees_[i], false_[i]}));
  }

  const Call& call_;
  const AttributeLists lists_;
  const std::string leaves_;
  std::vector<int64_t> trees_, ids_, features_, true_, false_, tracks_;
  std::vector<double> values_;
  std::vector<std::string_view> modes_;
  std::map<Key, size_t> places_;
  std::map<size_t, std::vector<TreeWeight>> of_leaves_;
  TreeEnsemble made_;
};

std::vector<double> base_values(const Call& call) {
  if (auto found = call.reals("base_values")) return *found;
  const auto tensor = call.tensor("base_values_as_tensor");
  if (!tensor) return {};
  const Tensor wide = tensor->to(DType::f64).contiguous();
  return {wide.data_as<double>(), wide.data_as<double>() + wide.numel()};
}

Value with_base(const Call& call, const Value& scores,
                const std::vector<double>& base) {
  return base.empty() ? scores : scores + number_list(call, base, DType::f32);
}

Results tree_regressor(Call& call) {
  const int64_t count = call.integer("n_targets", 1);
  if (count < 1) call.fail("n_targets: " + std::to_string(count));
  const TreeEnsemble trees = EnsembleReader(call, "target").run();
  const Value scores = with_base(
      call,
      tree_scores(call, trees, count,
                  tree_aggregate(call, call.text("aggregate_function", "SUM"))),
      base_values(call));
  const bool alone =
      count == 1 && call.text("post_transform", "NONE") != "PROBIT";
  return alone ? scores : transformed(call, scores);
}

Results tree_classifier(Call& call) {
  const ClassLabels labels = class_labels(call, "classlabels_int64s");
  const TreeEnsemble trees = EnsembleReader(call, "class").run();
  const auto count = static_cast<int64_t>(labels.size());
  const std::vector<double> base = base_values(call);
  std::set<int64_t> used;
  bool positive = true;
  for (const TreeWeight& one : trees.weights) {
    used.insert(one.target);
    positive = positive && one.weight >= 0;
  }
  const Value raw = tree_scores(call, trees, count, TreeAggregate::sum);
  if (count != 2 || used.size() != 1 || *used.begin() != 0) {
    const Value scores = with_base(call, raw, base);
    return std::vector<Operand>{labels_at(call, labels, argmax(scores, -1)),
                                transformed(call, scores)};
  }
  // Two classes of which one has weights: they are the second one's score.
  Value score = narrow(raw, 1, 0, 1);
  if (!base.empty()) score = score + base.front();
  return positive ? binary_results(call, labels, score, 0.5, 1 - score)
                  : binary_results(call, labels, score, 0, -score);
}

constexpr OpRow kTreesOps[] = {
    {.op = "TreeEnsembleClassifier", .run = tree_classifier, .domain = kMl},
    {.op = "TreeEnsembleRegressor", .run = tree_regressor, .domain = kMl},
};

}  // namespace

std::span<const OpRow> tree_rows() { return kTreesOps; }

}  // namespace fxjit::onnx
