#include "src/check/node_search.h"

#include <exception>
#include <map>
#include <set>
#include <vector>

#include "src/check/reducer.h"

namespace fxjit::checking {
namespace {

// Up to this many calls each is tried; of more calls, bisection tries some.
constexpr size_t kEachTried = 64;

bool has_tensors(const Expected& expected) {
  return expected.interpreted.results > 0;
}

// The calls that the result needs, including those that write memory which it
// reads.
std::vector<std::string> needed_calls(const GraphCase& c,
                                      const ExpectedNodes& expected) {
  std::set<const fx::Node*> needed;
  std::vector<std::string> names;
  for (const fx::Node* node : c.graph->nodes().reversed()) {
    if (!needed.contains(node) && !is_impure(c, *node)) continue;
    for (const fx::Node* input : node->all_input_nodes()) needed.insert(input);
    const auto value = expected.find(node->name());
    if (value != expected.end() && has_tensors(value->second))
      names.insert(names.begin(), std::string(node->name()));
  }
  return names;
}

class Search {
 public:
  Search(const GraphCase& c, const ExpectedNodes& expected,
         const Subject& subject)
      : case_(c),
        expected_(expected),
        subject_(subject),
        names_(needed_calls(c, expected)) {}

  std::optional<WrongNode> run() const {
    return names_.size() <= kEachTried ? first() : by_halves();
  }

 private:
  std::optional<WrongNode> first() const {
    for (const std::string& name : names_)
      if (auto wrong = try_one(name)) return wrong;
    return std::nullopt;
  }

  // Bisects: finds a wrong call such that the graph up to the call before it is
  // right.
  std::optional<WrongNode> by_halves() const {
    std::optional<WrongNode> found = try_one(names_.back());
    size_t right = 0, wrong = names_.size() - 1;  // All before `right` are.
    while (found && right < wrong) {
      const size_t middle = (right + wrong) / 2;
      if (auto earlier = try_one(names_[middle]))
        found = std::move(earlier), wrong = middle;
      else
        right = middle + 1;
    }
    return found;
  }

  std::optional<WrongNode> try_one(const std::string& name) const {
    std::string difference;
    try {
      const Outcome got = compiled_outcome(prefix_of(case_, name), subject_);
      difference = result_difference(got, expected_.at(name));
    } catch (const std::exception& error) {
      difference = std::string("the compiled call failed: ") + error.what();
    }
    if (difference.empty()) return std::nullopt;
    return WrongNode{name, difference};
  }

  const GraphCase& case_;
  const ExpectedNodes& expected_;
  const Subject& subject_;
  const std::vector<std::string> names_;
};

// Names of values by their nodes: those of the ONNX model, where the graph
// comes from one, whose nodes have names of the reader's own.
std::map<const fx::Node*, std::string> value_names(const fx::Graph& graph) {
  std::map<const fx::Node*, std::string> own, onnx;
  for (const fx::Node* node : graph.nodes()) {
    own.emplace(node, node->name());
    if (const Value* const name = node->meta().find("onnx_value"))
      onnx.emplace(node, name->as_string());
  }
  return onnx.empty() ? own : onnx;
}

std::vector<Tensor> tensors_of(const Value& value) {
  std::vector<Tensor> tensors;
  visit_leaves(value, [&](const Value& leaf) {
    if (leaf.is_tensor()) tensors.push_back(leaf.as_tensor());
  });
  return tensors;
}

}  // namespace

std::optional<WrongNode> find_wrong_node(const GraphCase& c,
                                         const ExpectedNodes& expected,
                                         const Subject& subject) {
  return Search(c, expected, subject).run();
}

std::optional<WrongNode> find_other_value(
    const GraphCase& c, const ExpectedNodes& expected,
    const std::map<std::string, Value, std::less<>>& given) {
  const auto names = value_names(*c.graph);
  for (const fx::Node* node : c.graph->nodes()) {
    const auto name = names.find(node);
    if (name == names.end()) continue;
    const auto theirs = given.find(name->second);
    const auto own = expected.find(node->name());
    if (theirs == given.end() || own == expected.end()) continue;
    const std::string difference =
        result_difference(own->second.interpreted,
                          expected_of(tensors_of(theirs->second), own->second));
    if (!difference.empty())
      return WrongNode{std::string(node->name()), difference};
  }
  return std::nullopt;
}

}  // namespace fxjit::checking
