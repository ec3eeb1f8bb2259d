// How many bytes of results are alive while each region of a graph computes.
#pragma once

#include <cstdint>
#include <vector>

#include "src/passes/model_graph.h"

namespace fxjit::program {

// The nodes [first, end) in which a tensor has memory, by their numbers in the
// order of the graph.
struct Life {
  size_t first = 0, end = 0;
};

class LiveBytes {
 public:
  explicit LiveBytes(const passes::ModelGraph& model);

  // Of a region's results: from the region to the last node that reads one.
  Life life(const fx::Node& region) const;
  const std::vector<int64_t>& bytes() const { return bytes_; }
  int64_t peak() const { return peak_; }

 private:
  std::vector<size_t> positions_;  // By Node::id().
  std::vector<size_t> last_;       // By position, as is what follows.
  std::vector<int64_t> bytes_;
  int64_t peak_ = 0;
};

// Bytes of the elements.
int64_t bytes_of(const Tensor& val);

}  // namespace fxjit::program
