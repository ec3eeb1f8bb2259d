#include "fxjit/fx/passes/splitter_base.h"

#include <algorithm>
#include <deque>
#include <unordered_set>

#include "fxjit/fx/interpreter.h"
#include "fxjit/fx/passes/shape_prop.h"
#include "fxjit/fx/passes/split_utils.h"

namespace fxjit::fx::passes {
namespace {

constexpr size_t kNoUnit = SIZE_MAX;

// Calls that are put into a part at once: a fusion group or a single call.
struct Unit {
  bool is_acc = false;
  std::vector<NodePtr> nodes;
  size_t missing = 0;  // Inputs from units not placed yet.
};

class Units {
 public:
  Units(const Graph& graph, const std::vector<NodePtr>& acc_nodes,
        const NodeGroups& fusions)
      : unit_of_(graph.id_bound(), kNoUnit) {
    std::vector<bool> is_acc(graph.id_bound());
    for (const Node* node : acc_nodes) is_acc[node->id()] = true;
    for (NodePtr node : graph.nodes()) {
      if (!is_callable_node(*node) || unit_of_[node->id()] != kNoUnit) continue;
      const auto group = fusions.find(node);
      Unit unit{is_acc[node->id()], {node}, 0};
      if (group != fusions.end()) unit.nodes = *group->second;
      for (const Node* member : unit.nodes)
        unit_of_[member->id()] = units_.size();
      units_.push_back(std::move(unit));
    }
    for (const Node* node : graph.nodes())
      for_each_edge(node, [&](size_t, size_t to) { ++units_[to].missing; });
    for (size_t i = 0; i < units_.size(); ++i)
      if (units_[i].missing == 0) ready_[units_[i].is_acc].push_back(i);
  }

  bool ready(bool acc) const { return !ready_[acc].empty(); }

  // Places every unit of this kind that waits for no unit of the other.
  std::vector<NodePtr> take(bool acc) {
    std::vector<NodePtr> taken;
    for (auto& queue = ready_[acc]; !queue.empty();) {
      const Unit& unit = units_[queue.front()];
      queue.pop_front();
      ++placed_;
      for (NodePtr node : unit.nodes) {
        taken.push_back(node);
        for_each_edge(node, [&](size_t, size_t to) {
          if (--units_[to].missing == 0)
            ready_[units_[to].is_acc].push_back(to);
        });
      }
    }
    return taken;
  }

  bool all_placed() const { return placed_ == units_.size(); }

 private:
  template <typename Fn>
  void for_each_edge(const Node* node, Fn&& fn) const {
    const size_t from = unit_of_[node->id()];
    if (from == kNoUnit) return;
    for (const Node* user : node->users())
      if (const size_t to = unit_of_[user->id()]; to != kNoUnit && to != from)
        fn(from, to);
  }

  std::vector<size_t> unit_of_;  // By node id.
  std::vector<Unit> units_;
  std::deque<size_t> ready_[2];  // Units for the CPU, for the accelerator.
  size_t placed_ = 0;
};

// Notes what the submodules are called with.
class InputRecorder : public Interpreter {
 public:
  InputRecorder(const GraphModule& module,
                const std::vector<std::string>& wanted)
      : Interpreter(module), wanted_(wanted.begin(), wanted.end()) {}
  Value call_module(const Target& target, const ValueList& args,
                    const Kwargs& kwargs) override {
    std::string name(target.text());
    if (wanted_.contains(name)) found.emplace_back(std::move(name), args);
    return Interpreter::call_module(target, args, kwargs);
  }
  std::vector<std::pair<std::string, ValueList>> found;

 private:
  std::unordered_set<std::string> wanted_;
};

}  // namespace

FxNetAccNodesFinder::FxNetAccNodesFinder(const GraphModule& module,
                                         OperatorSupportRef support,
                                         bool allow_non_tensor)
    : module_(module),
      support_(std::move(support)),
      allow_non_tensor_(allow_non_tensor) {}

// What reads other values than tensors off the accelerator must be there too.
void FxNetAccNodesFinder::drop_users_of(std::vector<NodePtr> pending) {
  for (size_t i = 0; i < pending.size(); ++i) {
    for (NodePtr user : pending[i]->users()) {
      if (!is_acc_[user->id()]) continue;
      is_acc_[user->id()] = false;
      if (!is_node_output_tensor(*user)) pending.push_back(user);
    }
  }
}

// Users come first, so that one sweep settles chains.
bool FxNetAccNodesFinder::drop_producers_for_others() {
  std::vector<NodePtr> dropped;
  for (NodePtr node : module_.graph().nodes().reversed()) {
    if (!is_acc_[node->id()] || is_node_output_tensor(*node)) continue;
    if (std::ranges::all_of(node->users(), [&](const Node* user) {
          return is_acc_[user->id()];
        }))
      continue;
    is_acc_[node->id()] = false;
    dropped.push_back(node);
  }
  if (dropped.empty()) return false;
  drop_users_of(std::move(dropped));
  return true;
}

std::vector<NodePtr> FxNetAccNodesFinder::operator()() {
  const NodeRange nodes = module_.graph().nodes();
  is_acc_.assign(module_.graph().id_bound(), false);
  for (const Node* node : nodes)
    is_acc_[node->id()] =
        is_callable_node(*node) && support_->is_node_supported(module_, *node);
  if (!allow_non_tensor_) {
    std::vector<NodePtr> others;
    for (NodePtr node : nodes)
      if (is_callable_node(*node) && !is_acc_[node->id()] &&
          !is_node_output_tensor(*node))
        others.push_back(node);
    drop_users_of(std::move(others));
    while (drop_producers_for_others()) {
    }
  }
  std::vector<NodePtr> found;
  for (NodePtr node : nodes)
    if (is_acc_[node->id()]) found.push_back(node);
  return found;
}

std::vector<std::pair<std::string, ValueList>> generate_inputs_for_submodules(
    const GraphModule& model, ValueList inputs,
    const std::vector<std::string>& target_submodules) {
  InputRecorder recorder(model, target_submodules);
  recorder.run(std::move(inputs));
  return std::move(recorder.found);
}

SplitterBase::SplitterBase(nn::Ref<GraphModule> module, ValueList sample_input,
                           OperatorSupportRef support,
                           SplitterSettings settings,
                           std::string non_acc_submodule_name,
                           bool return_tuple, FxNetAccNodesFinder* nodes_finder)
    : module_(std::move(module)),
      sample_input_(std::move(sample_input)),
      support_(std::move(support)),
      settings_(settings),
      non_acc_submodule_name_(std::move(non_acc_submodule_name)),
      return_tuple_(return_tuple) {
  ShapeProp(*module_).propagate(sample_input_);
  FxNetAccNodesFinder standard(*module_, support_, settings_.allow_non_tensor);
  acc_nodes_ = nodes_finder ? (*nodes_finder)() : standard();
  if (!settings_.skip_fusion)
    fusions_ = find_fusion_groups(*module_, acc_nodes_);
}

std::vector<SplitterSubgraph> SplitterBase::put_nodes_into_subgraphs() const {
  Units units(module_->graph(), acc_nodes_, fusions_);
  std::vector<SplitterSubgraph> subgraphs;
  for (bool acc = !units.ready(false); units.ready(acc); acc = !acc)
    subgraphs.push_back({acc, units.take(acc)});
  if (!units.all_placed())
    throw FxNetSplitterInternalError("Subgraph can't be empty");
  if (subgraphs.empty())
    throw FxNetSplitterInternalError("Couldn't create subgraphs");
  return subgraphs;
}

std::vector<SplitterSubgraph> SplitterBase::remove_small_acc_subgraphs(
    std::vector<SplitterSubgraph> subgraphs) const {
  std::vector<SplitterSubgraph> result;
  for (SplitterSubgraph& subgraph : subgraphs) {
    const bool small = subgraph.is_acc &&
                       subgraph.nodes.size() < settings_.min_acc_module_size;
    const bool follows_cpu =
        !subgraph.is_acc && !result.empty() && !result.back().is_acc;
    if ((small && !result.empty()) || follows_cpu) {
      auto& nodes = result.back().nodes;
      nodes.insert(nodes.end(), subgraph.nodes.begin(), subgraph.nodes.end());
      continue;
    }
    if (small) subgraph.is_acc = false;
    result.push_back(std::move(subgraph));
  }
  return result;
}

nn::Ref<GraphModule> SplitterBase::operator()() {
  tags_.clear();
  node_submodule_map_.clear();
  for (const SplitterSubgraph& subgraph :
       remove_small_acc_subgraphs(put_nodes_into_subgraphs())) {
    tags_.push_back(
        (subgraph.is_acc ? "_run_on_acc_" : non_acc_submodule_name_) +
        std::to_string(tags_.size()));
    for (const Node* node : subgraph.nodes)
      node_submodule_map_[node] = tags_.back();
  }
  SplitByTagsOptions options;
  options.tag_of = [&](const Node& node) {
    return node_submodule_map_.at(&node);
  };
  options.return_tuple = return_tuple_;
  return split_by_tags(*module_, tags_, options);
}

SplitResult SplitterBase::generate_split_results() {
  nn::Ref<GraphModule> split = (*this)();
  if (settings_.max_acc_splits > 0 &&
      static_cast<int64_t>(tags_.size()) > settings_.max_acc_splits)
    throw ValueError(
        "Cannot fulfill max_acc_splits limit. This may cause split "
        "fragmentation and result in performance issues.");
  auto inputs = generate_inputs_for_submodules(*split, sample_input_, tags_);
  return {std::move(split), std::move(inputs), non_acc_submodule_name_};
}

}  // namespace fxjit::fx::passes
