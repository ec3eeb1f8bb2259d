// Whether joining groups would close a cycle between them. Used by grouping
// only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "src/passes/fusing/grouping.h"

namespace fxjit::passes {

inline bool contains(const std::vector<int32_t>& groups, int32_t group) {
  return group >= 0 &&
         std::find(groups.begin(), groups.end(), group) != groups.end();
}

class CycleFinder {
 public:
  // `positions` of nodes in the graph, by id; both grow while it is used.
  CycleFinder(size_t id_bound, const Grouping& grouping,
              const std::vector<int32_t>& positions)
      : grouping_(grouping), positions_(positions), seen_(id_bound, 0) {}

  // Would the merged groups and `node` depend on something that depends on
  // them? Walks back from their outside inputs, whole groups at a time.
  bool closes(const std::vector<int32_t>& merged, const fx::Node& node);

 private:
  void push_inputs(const fx::Node& of);
  void push_outside(const fx::Node& of, const std::vector<int32_t>& merged);
  bool has_later(const Group& group, int32_t position) const;

  const Grouping& grouping_;
  const std::vector<int32_t>& positions_;
  std::vector<uint32_t> seen_;  // In the search of this number.
  uint32_t epoch_ = 0;
  std::vector<const fx::Node*> stack_;
};

}  // namespace fxjit::passes
