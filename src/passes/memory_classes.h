// Which values of a captured graph may share memory, so that a call that writes
// its argument can be replaced by one that does not where nobody can tell.
#pragma once

#include <vector>

#include "fxjit/fx/graph.h"
#include "src/ops/fresh_memory.h"

namespace fxjit::passes {

using ops::gives_fresh_memory;

class MemoryClasses {
 public:
  // `order`: positions by node id; it must outlive this.
  explicit MemoryClasses(const std::vector<int32_t>& order);

  // In graph order, once per node. `fresh`: its result is memory of its own;
  // else it may be that of any argument. Inputs, attributes and nodes not added
  // are the caller's.
  void add(const fx::Node& node, bool fresh);
  // `writer` wrote its argument `written` and returns it.
  void add_write(const fx::Node& writer, const fx::Node& written);

  // Whether nobody reads the memory of `written` after `writer` but through
  // these two nodes, the caller included.
  bool may_replace(const fx::Node& writer, const fx::Node& written) const;
  // Those nodes that are `written` itself: its earlier writers.
  std::vector<const fx::Node*> same_value(const fx::Node& written) const;

 private:
  static constexpr int32_t kOutside = -1;
  struct Place {
    int32_t memory = kOutside;
    int32_t value = kOutside;  // The first node that is this very tensor.
  };
  const Place& place(const fx::Node& node) const { return places_[node.id()]; }

  const std::vector<int32_t>& order_;
  std::vector<Place> places_;
  // By memory:
  std::vector<std::vector<const fx::Node*>> members_;
  std::vector<bool> shared_;  // With something that cannot be told.
};

}  // namespace fxjit::passes
