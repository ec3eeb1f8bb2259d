// TreeEnsemble of ai.onnx.ml, whose nodes and leaves are lists of their own.
#include <cmath>

#include "src/import/onnx/ops/tree_packing.h"

namespace fxjit::onnx {
namespace {

using ops::TreeAggregate;
using ops::TreeMode;

class LeavesApart {
 public:
  explicit LeavesApart(const Call& call) : call_(call), lists_(call) {}

  TreeEnsemble run() {
    read_lists();
    made_.parts.resize(modes_.size());
    for (size_t i = 0; i < modes_.size(); ++i) read_node(i);
    for (const int64_t root : ints("tree_roots"))
      made_.roots.push_back(node_at(root));
    return std::move(made_);
  }

 private:
  std::vector<int64_t> ints(const std::string& name) const {
    return lists_.integers(name);
  }
  std::vector<double> numbers(const std::string& name) const {
    return lists_.reals(name, name);
  }

  void read_lists() {
    modes_ = numbers("nodes_modes");
    splits_ = numbers("nodes_splits");
    features_ = ints("nodes_featureids");
    true_ = ints("nodes_truenodeids");
    false_ = ints("nodes_falsenodeids");
    true_leaf_ = ints("nodes_trueleafs");
    false_leaf_ = ints("nodes_falseleafs");
    targets_ = ints("leaf_targetids");
    weights_ = numbers("leaf_weights");
    tracks_ = call_.integers("nodes_missing_value_tracks_true")
                  .value_or(std::vector<int64_t>(modes_.size(), 0));
    if (call_.tensor("membership_values"))
      members_ = numbers("membership_values");
    lists_.check_count("nodes_splits", splits_.size(), modes_.size());
    lists_.check_count("nodes_featureids", features_.size(), modes_.size());
    lists_.check_count("nodes_truenodeids", true_.size(), modes_.size());
    lists_.check_count("nodes_falsenodeids", false_.size(), modes_.size());
    lists_.check_count("nodes_trueleafs", true_leaf_.size(), modes_.size());
    lists_.check_count("nodes_falseleafs", false_leaf_.size(), modes_.size());
    lists_.check_count("nodes_missing_value_tracks_true", tracks_.size(),
                       modes_.size());
    lists_.check_count("leaf_weights", weights_.size(), targets_.size());
  }

  int32_t node_at(int64_t place) const {
    if (place < 0 || place >= std::ssize(modes_))
      call_.fail("there is no node " + std::to_string(place));
    return static_cast<int32_t>(place);
  }

  // A tree that is a leaf has it behind both ways of one node: each way gets a
  // leaf of its own.
  int32_t add_leaf(int64_t place) {
    if (place < 0 || place >= std::ssize(targets_))
      call_.fail("there is no leaf " + std::to_string(place));
    const auto i = static_cast<size_t>(place);
    const auto first = static_cast<int32_t>(made_.weights.size());
    made_.weights.push_back({targets_[i], weights_[i]});
    made_.parts.push_back({.on_true = first, .on_false = first + 1});
    return static_cast<int32_t>(made_.parts.size()) - 1;
  }

  // The sets stand behind one another in the order of their nodes.
  std::vector<double> next_set() {
    std::vector<double> set;
    while (member_ < members_.size() && !std::isnan(members_[member_]))
      set.push_back(members_[member_++]);
    ++member_;
    return set;
  }

  void read_node(size_t i) {
    if (!(modes_[i] >= 0 && modes_[i] <= static_cast<int>(TreeMode::member)))
      call_.fail("nodes_modes: " + std::to_string(modes_[i]));
    if (features_[i] < 0 || features_[i] > (1 << 30))
      call_.fail("nodes_featureids: " + std::to_string(features_[i]));
    TreePart part{static_cast<TreeMode>(modes_[i]), tracks_[i] != 0,
                  static_cast<int32_t>(features_[i]), splits_[i]};
    if (part.mode == TreeMode::member) part.members = next_set();
    part.on_true = true_leaf_[i] != 0 ? add_leaf(true_[i]) : node_at(true_[i]);
    part.on_false =
        false_leaf_[i] != 0 ? add_leaf(false_[i]) : node_at(false_[i]);
    made_.parts[i] = std::move(part);
  }

  const Call& call_;
  const AttributeLists lists_;
  std::vector<double> modes_, splits_, weights_, members_;
  std::vector<int64_t> features_, true_, false_, true_leaf_, false_leaf_,
      targets_, tracks_;
  size_t member_ = 0;
  TreeEnsemble made_;
};

Results tree_ensemble(Call& call) {
  constexpr std::string_view kAggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  constexpr std::string_view kTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC",
                                              "SOFTMAX_ZERO", "PROBIT"};
  const int64_t aggregate = call.integer("aggregate_function", 1);
  const int64_t transform = call.integer("post_transform", 0);
  const int64_t count = call.integer("n_targets", 1);
  if (aggregate < 0 || aggregate >= std::ssize(kAggregates))
    call.fail("aggregate_function: " + std::to_string(aggregate));
  if (transform < 0 || transform >= std::ssize(kTransforms))
    call.fail("post_transform: " + std::to_string(transform));
  if (count < 1) call.fail("n_targets: " + std::to_string(count));
  const DType dtype = call.dtype(0);
  const DType wide = dtype == DType::f64 ? DType::f64 : DType::f32;
  const Value scores = transformed_by(
      call, kTransforms[transform],
      tree_scores(call, LeavesApart(call).run(), count,
                  tree_aggregate(call, kAggregates[aggregate]), wide));
  return wide == dtype ? scores : cast(call, scores, dtype);
}

constexpr OpRow kTreeEnsembleOps[] = {
    {.op = "TreeEnsemble", .since = 5, .run = tree_ensemble, .domain = kMl},
};

}  // namespace

std::span<const OpRow> tree_ensemble_rows() { return kTreeEnsembleOps; }

}  // namespace fxjit::onnx
