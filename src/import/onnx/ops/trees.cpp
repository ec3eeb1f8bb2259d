// Ensembles of trees of ai.onnx.ml: a loop over trees and rows, which no
// function of torch is. Nodes and weights are constants of the model.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "fxjit/error.h"
#include "fxjit/fx/target.h"
#include "src/import/onnx/ops/estimators.h"

namespace fxjit::onnx {
namespace {

// How a node compares a feature with its number.
enum Mode : int32_t { kLeq, kLt, kGte, kGt, kEq, kNeq, kLeaf };

constexpr std::string_view kModes[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                       "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ",
                                       "LEAF"};

// A node as the loop reads it, columns of an int32 tensor. Of a leaf,
// `on_true` is its first weight and `on_false` the one behind its last.
struct Node {
  int32_t feature = 0, mode = kLeaf, nan_is_true = 0;
  int32_t on_true = 0, on_false = 0;
};
constexpr int64_t kColumns = sizeof(Node) / sizeof(int32_t);

struct Weight {
  int64_t target;
  double weight;
};

// Trees by their nodes, all in one list.
struct Ensemble {
  std::vector<Node> nodes;
  std::vector<double> values;  // What each node compares with.
  std::vector<int64_t> roots;
  std::vector<Weight> weights;
};

template <typename T>
bool goes_true(T x, T value, const Node& node) {
  if (node.nan_is_true != 0 && std::isnan(x)) return true;
  switch (node.mode) {
    case kLeq:
      return x <= value;
    case kLt:
      return x < value;
    case kGte:
      return x >= value;
    case kGt:
      return x > value;
    case kEq:
      return x == value;
    default:
      return x != value;
  }
}

enum class Aggregate : int64_t { sum, average, smallest, largest };

// What a tree adds to a row's number.
void aggregate(Aggregate how, double weight, bool is_first, double& number) {
  if (how == Aggregate::smallest)
    number = is_first ? weight : std::min(number, weight);
  else if (how == Aggregate::largest)
    number = is_first ? weight : std::max(number, weight);
  else
    number += weight;
}

struct Tables {
  const Node* nodes;
  const int64_t* roots;
  int64_t trees;
  const int64_t* targets;  // Of the weights.
  const double* weights;
  int64_t count;  // Targets of a row.
  Aggregate how;
};

// Tree by tree, so that one's nodes stay in the cache.
template <typename T>
void add_trees(const Tables& tables, const T* values, const T* x, int64_t rows,
               int64_t columns, double* out) {
  std::vector<uint8_t> given(static_cast<size_t>(rows * tables.count), 0);
  for (int64_t tree = 0; tree < tables.trees; ++tree)
    for (int64_t row = 0; row < rows; ++row) {
      const T* const numbers = x + row * columns;
      int64_t at = tables.roots[tree];
      const Node* node = tables.nodes + at;
      while (node->mode != kLeaf) {
        const bool is_true =
            goes_true(numbers[node->feature], values[at], *node);
        at = is_true ? node->on_true : node->on_false;
        node = tables.nodes + at;
      }
      for (int32_t i = node->on_true; i < node->on_false; ++i) {
        const auto place =
            static_cast<size_t>(row * tables.count + tables.targets[i]);
        aggregate(tables.how, tables.weights[i], given[place] == 0, out[place]);
        given[place] = 1;
      }
    }
}

// (x, nodes, values, roots, targets, weights, number of features and of
// targets, aggregate): float [rows, targets].
Value sums_of_trees(const ValueList& args, const Kwargs&) {
  const Tensor given = args.at(0).as_tensor();
  const Tensor& values = args.at(2).as_tensor();
  const Tensor x = given.to(values.dtype()).contiguous();
  const int64_t features = args.at(6).as_int(), count = args.at(7).as_int();
  if (x.dim() != 2 || x.size(1) < features)
    throw RuntimeError("[TreeEnsemble] expected rows of " +
                       std::to_string(features) + " features or more, got " +
                       given.describe());
  const Tables tables{
      reinterpret_cast<const Node*>(args.at(1).as_tensor().data()),
      args.at(3).as_tensor().data_as<int64_t>(),
      args.at(3).as_tensor().numel(),
      args.at(4).as_tensor().data_as<int64_t>(),
      args.at(5).as_tensor().data_as<double>(),
      count,
      static_cast<Aggregate>(args.at(8).as_int())};
  const Tensor sums = Tensor::zeros({x.size(0), count}, DType::f64);
  const auto add = [&](const auto* thresholds, const auto* numbers) {
    add_trees(tables, thresholds, numbers, x.size(0), x.size(1),
              sums.data_as<double>());
  };
  if (values.dtype() == DType::f64)
    add(values.data_as<double>(), x.data_as<double>());
  else
    add(values.data_as<float>(), x.data_as<float>());
  if (tables.how == Aggregate::average)
    for (int64_t i = 0; i < sums.numel(); ++i)
      sums.data_as<double>()[i] /= static_cast<double>(tables.trees);
  return sums.to(DType::f32);
}

// --- Reading. ---

class EnsembleReader {
 public:
  // `leaves` is "target" or "class", the beginning of the weights' attributes.
  EnsembleReader(const Call& call, std::string leaves)
      : call_(call), leaves_(std::move(leaves)) {}

  Ensemble run() {
    read_nodes();
    read_weights();
    for (size_t i = 0; i < modes_.size(); ++i) link(i);
    check_paths();
    return std::move(made_);
  }

 private:
  using Key = std::pair<int64_t, int64_t>;  // Tree and node.

  std::vector<int64_t> ints(const std::string& name) const {
    auto found = call_.integers(name);
    if (!found) call_.fail("attribute " + name + " is missing");
    return *found;
  }

  // A list of floats, or a tensor of doubles in its place.
  std::vector<double> reals(const std::string& name) const {
    if (auto found = call_.reals(name)) return *found;
    const auto tensor = call_.tensor(name + "_as_tensor");
    if (!tensor) call_.fail("attribute " + name + " is missing");
    const Tensor wide = tensor->to(DType::f64).contiguous();
    return {wide.data_as<double>(), wide.data_as<double>() + wide.numel()};
  }

  void check_count(const char* what, size_t got, size_t expected) const {
    if (got != expected)
      call_.fail("attribute " + std::string(what) + ": expected " +
                 std::to_string(expected) + " numbers, got " +
                 std::to_string(got));
  }

  void read_nodes() {
    trees_ = ints("nodes_treeids");
    ids_ = ints("nodes_nodeids");
    features_ = ints("nodes_featureids");
    true_ = ints("nodes_truenodeids");
    false_ = ints("nodes_falsenodeids");
    made_.values = reals("nodes_values");
    modes_ = call_.texts("nodes_modes");
    const size_t count = trees_.size();
    check_count("nodes_nodeids", ids_.size(), count);
    check_count("nodes_featureids", features_.size(), count);
    check_count("nodes_truenodeids", true_.size(), count);
    check_count("nodes_falsenodeids", false_.size(), count);
    check_count("nodes_values", made_.values.size(), count);
    check_count("nodes_modes", modes_.size(), count);
    made_.nodes.resize(count);
    for (size_t i = 0; i < count; ++i) {
      if (!places_.emplace(Key{trees_[i], ids_[i]}, i).second)
        call_.fail("nodes_nodeids: a node is there twice");
      if (i == 0 || trees_[i] != trees_[i - 1])
        made_.roots.push_back(static_cast<int64_t>(i));
    }
  }

  void read_weights() {
    const auto trees = ints(leaves_ + "_treeids");
    const auto nodes = ints(leaves_ + "_nodeids");
    const auto targets = ints(leaves_ + "_ids");
    const auto weights = reals(leaves_ + "_weights");
    check_count("leaves", nodes.size(), trees.size());
    check_count("leaves", targets.size(), trees.size());
    check_count("leaves", weights.size(), trees.size());
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
    Node& node = made_.nodes[i];
    const auto mode =
        std::find(std::begin(kModes), std::end(kModes), modes_[i]);
    if (mode == std::end(kModes))
      call_.fail("nodes_modes: \"" + std::string(modes_[i]) + "\" is unknown");
    node.mode = static_cast<int32_t>(mode - std::begin(kModes));
    if (node.mode == kLeaf) {
      node.on_true = static_cast<int32_t>(made_.weights.size());
      if (const auto own = of_leaves_.find(i); own != of_leaves_.end())
        made_.weights.insert(made_.weights.end(), own->second.begin(),
                             own->second.end());
      node.on_false = static_cast<int32_t>(made_.weights.size());
      return;
    }
    if (features_[i] < 0 || features_[i] > (1 << 30))
      call_.fail("nodes_featureids: " + std::to_string(features_[i]));
    const auto tracks = call_.integers("nodes_missing_value_tracks_true");
    node.nan_is_true = tracks && i < tracks->size() && (*tracks)[i] != 0;
    node.feature = static_cast<int32_t>(features_[i]);
    node.on_true = static_cast<int32_t>(place_of({trees_[i], true_[i]}));
    node.on_false = static_cast<int32_t>(place_of({trees_[i], false_[i]}));
  }

  // Each node is reached by one way at most, so that every way ends.
  void check_paths() const {
    std::vector<bool> reached(made_.nodes.size(), false);
    for (const int64_t root : made_.roots)
      reached[static_cast<size_t>(root)] = true;
    for (const Node& node : made_.nodes) {
      if (node.mode == kLeaf) continue;
      for (const int32_t next : {node.on_true, node.on_false}) {
        if (reached[static_cast<size_t>(next)])
          call_.fail("a node of a tree is reached by two ways");
        reached[static_cast<size_t>(next)] = true;
      }
    }
  }

  const Call& call_;
  const std::string leaves_;
  std::vector<int64_t> trees_, ids_, features_, true_, false_;
  std::vector<std::string_view> modes_;
  std::map<Key, size_t> places_;
  std::map<size_t, std::vector<Weight>> of_leaves_;
  Ensemble made_;
};

Value node_table(const Call& call, const Ensemble& trees) {
  const auto count = static_cast<int64_t>(trees.nodes.size());
  const Tensor table = Tensor::empty({count, kColumns}, DType::i32);
  std::copy(trees.nodes.begin(), trees.nodes.end(),
            reinterpret_cast<Node*>(table.data()));
  return call.recorder().constant(table, "nodes");
}

Aggregate aggregate_of(const Call& call) {
  const std::string name = call.text("aggregate_function", "SUM");
  if (name == "SUM") return Aggregate::sum;
  if (name == "AVERAGE") return Aggregate::average;
  if (name == "MIN") return Aggregate::smallest;
  if (name == "MAX") return Aggregate::largest;
  call.fail("aggregate_function: \"" + name + "\" is unknown");
}

// The call of the loop: [rows, count].
Value raw_scores(const Call& call, const Ensemble& trees, int64_t count,
                 Aggregate how) {
  static const fx::Function& function =
      fx::define_function("fxjit.onnx.tree_ensemble", sums_of_trees);
  std::vector<int64_t> targets;
  std::vector<double> weights;
  for (const Weight& one : trees.weights) {
    if (one.target < 0 || one.target >= count)
      call.fail("a weight of target " + std::to_string(one.target) + " of " +
                std::to_string(count));
    targets.push_back(one.target);
    weights.push_back(one.weight);
  }
  int64_t features = 0;
  for (const Node& node : trees.nodes)
    if (node.mode != kLeaf)
      features = std::max<int64_t>(features, node.feature + 1);
  const bool wide = call.dtype(0) == DType::f64;
  const Value x = call.rank(0) == 1 ? unsqueeze(call[0], 0) : call[0];
  Value example;
  if (const Value of_x = Recorder::example(x); of_x.is_tensor())
    example = Tensor::meta({of_x.as_tensor().size(0), count}, DType::f32);
  return call.recorder().record_function(
      function,
      {x, node_table(call, trees),
       number_list(call, trees.values, wide ? DType::f64 : DType::f32),
       integer_list(call, trees.roots), integer_list(call, targets),
       number_list(call, weights, DType::f64), features, count,
       static_cast<int64_t>(how)},
      example);
}

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
  const Ensemble trees = EnsembleReader(call, "target").run();
  const Value scores =
      with_base(call, raw_scores(call, trees, count, aggregate_of(call)),
                base_values(call));
  const bool alone =
      count == 1 && call.text("post_transform", "NONE") != "PROBIT";
  return alone ? scores : transformed(call, scores);
}

Results tree_classifier(Call& call) {
  const std::vector<int64_t> labels = class_labels(call, "classlabels_int64s");
  const Ensemble trees = EnsembleReader(call, "class").run();
  const auto count = static_cast<int64_t>(labels.size());
  const std::vector<double> base = base_values(call);
  std::set<int64_t> used;
  bool positive = true;
  for (const Weight& one : trees.weights) {
    used.insert(one.target);
    positive = positive && one.weight >= 0;
  }
  const Value raw = raw_scores(call, trees, count, Aggregate::sum);
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
