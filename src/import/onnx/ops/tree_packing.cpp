// Trees as tables in which the children of a node stand beside one another.
#include "src/import/onnx/ops/tree_packing.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fxjit::onnx {
namespace {

using ops::TreeCompare;
using ops::TreeMode;
using ops::TreeNode;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Every way through the trees ends.
void check_ways(const Call& call, const TreeEnsemble& trees) {
  std::vector<bool> reached(trees.parts.size(), false);
  const auto reach = [&](int32_t part) {
    if (reached[static_cast<size_t>(part)])
      call.fail("a node of a tree is reached by two ways");
    reached[static_cast<size_t>(part)] = true;
  };
  for (const int32_t root : trees.roots) reach(root);
  for (const TreePart& part : trees.parts) {
    if (part.mode == TreeMode::leaf) continue;
    reach(part.on_true);
    reach(part.on_false);
  }
}

// x > v is not x <= v where x is no NaN, and x >= v not x < v.
TreeCompare compare_of(const TreeEnsemble& trees) {
  bool leq = false, less = false, other = false;
  for (const TreePart& part : trees.parts) {
    const TreeMode mode = part.mode;
    if (mode == TreeMode::leq || mode == TreeMode::gt)
      leq = true;
    else if (mode == TreeMode::lt || mode == TreeMode::gte)
      less = true;
    else if (mode != TreeMode::leaf)
      other = true;
  }
  if (other || leq == less) return TreeCompare::none;
  return leq ? TreeCompare::leq : TreeCompare::lt;
}

struct Tables {
  Tensor nodes, kinds;
  std::vector<double> members, weights;
  std::vector<int64_t> roots, starts{0}, targets;
};

// Level by level from each root, so that the nodes that all rows pass stand
// together.
template <typename T>
class Packing {
 public:
  explicit Packing(const TreeEnsemble& trees)
      : trees_(trees), compare_(compare_of(trees)) {}

  Tables run() {
    nodes_.reserve(trees_.parts.size());
    for (const int32_t root : trees_.roots) {
      made_.roots.push_back(std::ssize(nodes_));
      size_t next = nodes_.size();
      add(root);
      for (; next < nodes_.size(); ++next) pack(next);
    }
    made_.members.push_back(kNan);
    fill();
    return std::move(made_);
  }

 private:
  void add(int32_t part) {
    nodes_.push_back({});
    parts_.push_back(part);
  }

  void pack(size_t i) {
    const TreePart& part = trees_.parts[static_cast<size_t>(parts_[i])];
    auto kind = static_cast<uint8_t>(part.mode);
    TreeNode<T> node{static_cast<T>(part.value), part.feature, 0, 0};
    if (part.mode == TreeMode::leaf) {
      node.value = static_cast<T>(kNan);
      node.child = static_cast<int32_t>(i) - 1;
      node.entry = static_cast<int32_t>(made_.starts.size()) - 1;
      add_weights(part);
    } else {
      const bool swapped =
          compare_ != TreeCompare::none &&
          (part.mode == TreeMode::gt || part.mode == TreeMode::gte);
      if (part.nan_is_true) kind |= ops::kTreeNanIsTrue;
      if (swapped) kind |= ops::kTreeSwapped;
      node.child = static_cast<int32_t>(nodes_.size());
      add(swapped ? part.on_false : part.on_true);
      add(swapped ? part.on_true : part.on_false);
      node.entry = static_cast<int32_t>(made_.members.size());
      if (part.mode == TreeMode::member) {
        made_.members.insert(made_.members.end(), part.members.begin(),
                             part.members.end());
        made_.members.push_back(kNan);
      }
    }
    nodes_[i] = node;
    kinds_.push_back(kind);
  }

  void add_weights(const TreePart& leaf) {
    for (int32_t i = leaf.on_true; i < leaf.on_false; ++i) {
      const TreeWeight& one = trees_.weights[static_cast<size_t>(i)];
      made_.targets.push_back(one.target);
      made_.weights.push_back(one.weight);
    }
    made_.starts.push_back(std::ssize(made_.weights));
  }

  void fill() {
    // Each leaf has one weight, of its own number.
    bool one_each = true;
    for (size_t i = 0; i < made_.starts.size(); ++i)
      one_each = one_each && made_.starts[i] == static_cast<int64_t>(i);
    if (one_each) made_.starts.clear();
    const auto count = static_cast<int64_t>(nodes_.size());
    made_.nodes = Tensor::empty({count, ops::kTreeNodeColumns<T>}, DType::i32);
    std::ranges::copy(nodes_,
                      reinterpret_cast<TreeNode<T>*>(made_.nodes.data()));
    made_.kinds = Tensor::empty({count}, DType::u8);
    std::ranges::copy(kinds_, made_.kinds.data_as<uint8_t>());
  }

  const TreeEnsemble& trees_;
  const TreeCompare compare_;
  std::vector<TreeNode<T>> nodes_;
  std::vector<int32_t> parts_;  // Which each node is.
  std::vector<uint8_t> kinds_;
  Tables made_;
};

void check_targets(const Call& call, const TreeEnsemble& trees, int64_t count) {
  for (const TreeWeight& one : trees.weights)
    if (one.target < 0 || one.target >= count)
      call.fail("a weight of target " + std::to_string(one.target) + " of " +
                std::to_string(count));
}

int64_t feature_count(const TreeEnsemble& trees) {
  int64_t features = 0;
  for (const TreePart& part : trees.parts)
    if (part.mode != TreeMode::leaf)
      features = std::max<int64_t>(features, part.feature + 1);
  return features;
}

Value small_integers(const Call& call, const std::vector<int64_t>& numbers) {
  const Tensor wide =
      Tensor::from(numbers, {static_cast<int64_t>(numbers.size())});
  return call.recorder().constant(wide.to(DType::i32), "integers");
}

}  // namespace

std::vector<int64_t> AttributeLists::integers(const std::string& name) const {
  auto found = call_.integers(name);
  if (!found) call_.fail("attribute " + name + " is missing");
  return *found;
}

std::vector<double> AttributeLists::reals(const std::string& tensor,
                                          const std::string& named) const {
  const auto found = call_.tensor(tensor);
  if (!found) call_.fail("attribute " + named + " is missing");
  const Tensor wide = found->to(DType::f64).contiguous();
  return {wide.data_as<double>(), wide.data_as<double>() + wide.numel()};
}

void AttributeLists::check_count(const char* what, size_t got,
                                 size_t expected) const {
  if (got == expected) return;
  call_.fail("attribute " + std::string(what) + ": expected " +
             std::to_string(expected) + " numbers, got " + std::to_string(got));
}

Value tree_scores(const Call& call, const TreeEnsemble& trees, int64_t count,
                  ops::TreeAggregate aggregate, DType dtype) {
  check_ways(call, trees);
  check_targets(call, trees, count);
  const bool wide = call.dtype(0) == DType::f64;
  const Tables tables =
      wide ? Packing<double>(trees).run() : Packing<float>(trees).run();
  const Value x = call.rank(0) == 1 ? unsqueeze(call[0], 0) : call[0];
  Recorder& recorder = call.recorder();
  return function(
      "fxjit.tree_ensemble",
      {x, recorder.constant(tables.nodes, "nodes"),
       recorder.constant(tables.kinds, "kinds"),
       number_list(call, tables.members, DType::f64),
       small_integers(call, tables.roots), small_integers(call, tables.starts),
       small_integers(call, tables.targets),
       number_list(call, tables.weights, DType::f64), feature_count(trees),
       count, static_cast<int64_t>(compare_of(trees)),
       static_cast<int64_t>(aggregate), dtype});
}

ops::TreeAggregate tree_aggregate(const Call& call, std::string_view name) {
  if (name == "SUM") return ops::TreeAggregate::sum;
  if (name == "AVERAGE") return ops::TreeAggregate::average;
  if (name == "MIN") return ops::TreeAggregate::smallest;
  if (name == "MAX") return ops::TreeAggregate::largest;
  call.fail("aggregate_function: \"" + std::string(name) + "\" is unknown");
}

}  // namespace fxjit::onnx
