#include "src/tensor/memory_order.h"

#include <algorithm>
#include <utility>

#include "src/support/errors/exact_int.h"

namespace fxjit {
namespace {

// Positive where the first of two dims belongs outside the second, negative
// where it belongs inside, 0 where no operand tells.
int compare(const Dims& sizes, std::span<const Dims> strides, int64_t a,
            int64_t b) {
  const int x = static_cast<int>(a), y = static_cast<int>(b);
  for (const Dims& operand : strides) {
    if (operand[x] == 0 || operand[y] == 0) continue;
    if (operand[x] != operand[y]) return operand[x] < operand[y] ? -1 : 1;
    if (sizes[x] > sizes[y]) return 1;
  }
  return 0;
}

}  // namespace

bool is_dense(const Tensor& tensor) {
  if (tensor.is_contiguous()) return true;
  const Dims dense = strides_in_order(tensor.sizes(), memory_order(tensor));
  return same_places(tensor.sizes(), tensor.strides(), dense);
}

Dims strides_in_order(const Dims& sizes, const Dims& order) {
  Dims strides(sizes.size(), 0);
  int64_t reach = 1;
  for (int i = order.size() - 1; i >= 0; --i) {
    const int d = static_cast<int>(order[i]);
    strides[d] = reach;
    reach *= std::max<int64_t>(sizes[d], 1);
  }
  return strides;
}

// Sorting by insertion: the comparison is no order, and results follow from the
// order in which dims are compared.
Dims loop_order(const Dims& sizes, std::span<const Dims> strides) {
  const int rank = sizes.size();
  Dims order;
  for (int d = 0; d < rank; ++d) order.push_back(d);
  for (int from = rank - 2; from >= 0; --from) {
    int at = from;
    for (int inner = from + 1; inner < rank; ++inner) {
      const int found = compare(sizes, strides, order[inner], order[at]);
      if (found < 0) break;
      if (found == 0) continue;
      std::swap(order[inner], order[at]);
      at = inner;
    }
  }
  return order;
}

Dims memory_order(const Tensor& tensor) {
  return loop_order(tensor.sizes(),
                    std::span<const Dims>(&tensor.strides(), 1));
}

bool has_channels_innermost(const Tensor& tensor) {
  const int rank = tensor.dim();
  if (rank != 4 && rank != 5) return false;
  const Dims &sizes = tensor.sizes(), &strides = tensor.strides();
  if (strides[1] == 0) return false;
  int64_t reach = 0;
  for (int i = rank; i >= 1; --i) {
    const int d = i == rank ? 1 : i == 1 ? 0 : i;
    if (sizes[d] == 0 || strides[d] < reach) return false;
    // A tensor with one element in all dims but the first has both orders.
    if (d == 0 && reach == strides[1]) return false;
    reach = strides[d] * sizes[d];
  }
  return true;
}

bool same_places(const Dims& sizes, const Dims& a, const Dims& b) {
  if (numel(sizes) == 0) return true;
  for (int d = 0; d < sizes.size(); ++d)
    if (sizes[d] != 1 && a[d] != b[d]) return false;
  return true;
}

Dims strides_of_parts(const Tensor& tensor) {
  Dims strides = tensor.strides();
  for (int d = 0; d < strides.size(); ++d) {
    const bool reaches = tensor.numel() > 0 && tensor.size(d) > 1;
    const int64_t stride = strides[d];
    if (reaches)
      strides[d] = support::ExactInt(stride) * 2;
    else if (__builtin_mul_overflow(stride, 2, &strides[d]))
      strides[d] = 1;
  }
  return strides;
}

// From the smallest stride on, each dim has to step over all that the dims
// before it span.
bool elements_are_apart(const Tensor& t) {
  std::vector<std::pair<int64_t, int64_t>> dims;  // Stride and size.
  for (int d = 0; d < t.dim(); ++d)
    if (t.sizes()[d] > 1) dims.emplace_back(t.strides()[d], t.sizes()[d]);
  std::sort(dims.begin(), dims.end());
  int64_t span = 1;
  for (const auto& [stride, size] : dims) {
    if (stride < span) return false;
    span = (size - 1) * stride + span;
  }
  return true;
}

Tensor copy_in_layout(const Tensor& tensor, const Dims& strides) {
  const Tensor memory = Tensor::empty(tensor.sizes(), tensor.dtype());
  const Tensor copy = memory.as_strided(tensor.sizes(), strides, 0);
  copy.copy_from(tensor);
  return copy;
}

}  // namespace fxjit
