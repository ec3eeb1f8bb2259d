// Which steps of two runs do the same work: those whose nodes of the captured
// graph overlap, directly or through others.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "tools/fxjit/page/page_data.h"

namespace fxjit::command {
namespace {

// Sets of numbers that are joined pair by pair.
class Sets {
 public:
  explicit Sets(size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  size_t of(size_t item) {
    while (parent_[item] != item)
      item = parent_[item] = parent_[parent_[item]];
    return item;
  }
  void join(size_t a, size_t b) { parent_[of(a)] = of(b); }

 private:
  std::vector<size_t> parent_;
};

std::vector<const json*> steps_of(const json& a, const json& b) {
  std::vector<const json*> steps;
  for (const json* run : {&a, &b})
    for (const json& step : (*run)["steps"]) steps.push_back(&step);
  return steps;
}

// Steps without nodes, such as copies at the end, by what they are.
std::vector<std::string> names_of(const json& step) {
  std::vector<std::string> names;
  for (const json& node : step["nodes"])
    names.push_back(node["name"].get<std::string>());
  if (names.empty())
    names.push_back("(" + step["label"].get<std::string>() + ")");
  return names;
}

}  // namespace

json comparison(const json& a, const json& b) {
  const std::vector<const json*> steps = steps_of(a, b);
  const size_t first_b = a["steps"].size();
  Sets sets(steps.size());
  std::map<std::string, size_t> of_node;
  for (size_t s = 0; s < steps.size(); ++s)
    for (const std::string& name : names_of(*steps[s])) {
      const auto [known, added] = of_node.emplace(name, s);
      if (!added) sets.join(s, known->second);
    }
  std::map<size_t, json> groups;
  for (size_t s = 0; s < steps.size(); ++s) {
    json& group = groups[sets.of(s)];
    if (group.is_null())
      group = {{"nodes", json::array()},
               {"a", json::array()},
               {"b", json::array()},
               {"a_us", 0.0},
               {"b_us", 0.0}};
    const bool second = s >= first_b;
    group[second ? "b" : "a"].push_back(second ? s - first_b : s);
    json& us = group[second ? "b_us" : "a_us"];
    us = us.get<double>() + (*steps[s])["us"].get<double>();
    for (const std::string& name : names_of(*steps[s]))
      if (std::find(group["nodes"].begin(), group["nodes"].end(), name) ==
          group["nodes"].end())
        group["nodes"].push_back(name);
  }
  std::vector<json> ordered;
  for (auto& [set, group] : groups) ordered.push_back(std::move(group));
  const auto difference = [](const json& group) {
    return std::abs(group["b_us"].get<double>() - group["a_us"].get<double>());
  };
  std::stable_sort(ordered.begin(), ordered.end(),
                   [&](const json& x, const json& y) {
                     return difference(x) > difference(y);
                   });
  return ordered;
}

}  // namespace fxjit::command
