// The values of a table's named sizes for one tuple, put in place of names.
#pragma once

#include <span>

#include "src/tensor/sizes/named.h"
#include "src/tensor/sizes/table.h"

namespace fxjit::passes {

struct SizeValues {
  const SizeTable& table;
  std::span<const int64_t> values;  // As SizeTable::evaluate() gave them.

  int64_t of(Size size) const { return table.value(size, values); }
  Dims of(const Dims& dims) const {
    Dims result = dims;
    for (Size& size : result) size = of(size);
    return result;
  }
  Tensor of(const Tensor& tensor) const {
    if (!has_name(tensor)) return tensor;
    return Tensor::meta(of(tensor.sizes()), tensor.dtype(),
                        of(tensor.strides()), of(tensor.offset()));
  }
  Value of(const Value& value) const {
    return map_leaves(value, [this](const Value& leaf) -> Value {
      if (leaf.is_tensor()) return of(leaf.as_tensor());
      if (!leaf.is_named_size()) return leaf;
      return of(leaf.as_size());
    });
  }
};

}  // namespace fxjit::passes
