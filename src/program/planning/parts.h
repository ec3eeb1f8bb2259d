// Results that are made where a concatenation needs them, so that it has
// nothing to copy. The concatenation's memory is then there from the first of
// them on, and whoever else reads one reads it there.
#pragma once

#include <map>
#include <unordered_set>
#include <utility>

#include "src/passes/model_graph.h"

namespace fxjit::program {

// Where in the result of a concatenation another result lies.
struct Part {
  const fx::Node* whole = nullptr;  // The concatenation's region.
  int64_t byte_offset = 0;
  Tensor val;  // With the strides that it has there.
};

// A region and the number of one of its results.
using RegionResult = std::pair<const fx::Node*, size_t>;

class Parts {
 public:
  // What the result of a region with this number is a part of, or null.
  const Part* find(const fx::Node& region, size_t number) const;
  void add(const RegionResult& result, Part part);
  const std::map<RegionResult, Part>& all() const { return parts_; }

 private:
  std::map<RegionResult, Part> parts_;
};

// The parts of a fused graph. `updates`: its regions that change an argument.
// `dense_products`: whether products know dense operands alone. No part raises
// the number of bytes that are alive at the graph's peak, counted as if no step
// worked in place.
Parts find_parts(const passes::ModelGraph& model,
                 const std::unordered_set<const fx::Node*>& updates,
                 bool dense_products);

}  // namespace fxjit::program
