#include "src/tensor/sizes/named.h"

#include <algorithm>

namespace fxjit {

bool has_name(const Dims& dims) {
  return std::ranges::any_of(dims, [](Size d) { return !d.is_number(); });
}

bool has_name(const Tensor& tensor) {
  return has_name(tensor.sizes()) || has_name(tensor.strides()) ||
         !tensor.offset().is_number();
}

bool has_name(const Value& value) {
  bool found = false;
  visit_leaves(value, [&](const Value& leaf) {
    found = found || leaf.is_named_size() ||
            (leaf.is_tensor() && has_name(leaf.as_tensor()));
  });
  return found;
}

}  // namespace fxjit
