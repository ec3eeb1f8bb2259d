// How the compiler's own weights are made of a model's: the calls by which a
// tensor follows from tensors that others hold, as text that is equal for equal
// calls on the same tensors.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "fxjit/op.h"

namespace fxjit::passes {

struct WeightRecipe {
  std::string calls;
  std::vector<Tensor> sources;  // What others hold.
};

class WeightRecipes {
 public:
  // Of a call with tensors as arguments; none where it would be very long.
  std::optional<WeightRecipe> of(const ops::Op& op,
                                 const ValueList& args) const;
  // Tells how a tensor was made, which lives as long as this object.
  void add(const Tensor& made, WeightRecipe recipe);
  // Whether the tensor is one of these or a view of it.
  bool know(const Tensor& tensor) const {
    return made_.contains(tensor.storage().get());
  }

 private:
  std::unordered_map<const Storage*, WeightRecipe> made_;
};

// A tensor like `val` with what the op gives for these arguments: computed when
// it is read, as it is mostly read once then.
Tensor computed_when_read(const ops::Op& op, const ValueList& args,
                          const Tensor& val);

}  // namespace fxjit::passes
