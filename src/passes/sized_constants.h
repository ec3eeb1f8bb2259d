// SizedConstants: the tensors of a graph of named sizes that follow from these
// sizes alone. They are computed when they are asked for, and small ones are
// kept for tuples in which the sizes that they follow from are the same: the
// positions of a length serve all batches.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <utility>
#include <vector>

#include "src/passes/model_graph.h"
#include "src/passes/size_values.h"

namespace fxjit::passes {

class SizedConstants {
 public:
  // What `made` says of the stand-ins with these ids, and of what they are made
  // of.
  SizedConstants(std::vector<MadeConstant> made,
                 const std::vector<const void*>& wanted);

  // The tensor for a stand-in that was wanted.
  Tensor at(const Tensor& stand_in, const SizeValues& values);
  // Ends what at() knows of the sizes that it was last given.
  void forget_sizes();

  // What is kept for later sizes.
  size_t bytes() const { return kept_bytes_; }

 private:
  struct Entry {
    MadeConstant made;
    std::vector<Size> follows;  // The named sizes that tell results apart.
    // The graph reads it, or what follows from further sizes does.
    bool kept = false;
    Tensor present;  // For the sizes at hand.
  };
  // An entry's number and the values of its sizes.
  using Key = std::vector<int64_t>;
  using Kept = std::list<std::pair<Key, Tensor>>;  // As last used.

  std::vector<Size> sizes_of(const MadeConstant& made) const;
  void mark_kept(const Entry& reader);
  Tensor present(size_t number, const SizeValues& values);
  Tensor computed(const MadeConstant& made, const SizeValues& values);
  void keep(Key key, const Tensor& tensor);

  std::vector<Entry> entries_;
  std::map<const void*, size_t> by_stand_in_;
  Kept kept_;
  std::map<Key, Kept::iterator> found_;
  size_t kept_bytes_ = 0;
};

}  // namespace fxjit::passes
