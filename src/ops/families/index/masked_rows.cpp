#include "src/ops/families/index/masked_rows.h"

#include <algorithm>
#include <cstring>

#include "src/ops/families/shared/structured.h"

namespace fxjit::ops {

Tensor masked_rows(const Tensor& input, const Tensor& mask) {
  const Tensor from = input.contiguous();
  const Tensor flags = mask.to(DType::boolean).contiguous();
  const bool* const set = flags.data_as<bool>();
  const int64_t total = std::count(set, set + flags.numel(), true);
  Dims sizes{total};
  for (int d = mask.dim(); d < input.dim(); ++d)
    sizes.push_back(input.sizes()[d]);
  const Tensor out = Tensor::empty(sizes, input.dtype());
  if (out.numel() == 0) return out;
  const int64_t width = out.numel() / total;
  if (width == 1) {
    visit_element_size(input.dtype(), [&](auto type) {
      using T = typename decltype(type)::type;
      T* const to = out.data_as<T>();
      const T* const all = from.data_as<T>();
      for (int64_t i = 0, picked = 0; picked < total; ++i) {
        to[picked] = all[i];  // Is written over unless it is picked.
        picked += set[i];
      }
    });
    return out;
  }
  const size_t bytes = static_cast<size_t>(width) * input.item_size();
  auto* to = static_cast<std::byte*>(out.data());
  const auto* all = static_cast<const std::byte*>(from.data());
  for (int64_t i = 0, n = flags.numel(); i < n; ++i, all += bytes)
    if (set[i]) {
      std::memcpy(to, all, bytes);
      to += bytes;
    }
  return out;
}

}  // namespace fxjit::ops
