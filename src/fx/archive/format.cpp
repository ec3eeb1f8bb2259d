#include "src/fx/archive/format.h"

#include <algorithm>

#include "src/support/checksum.h"

namespace fxjit::fx::archive {

std::string checksum(const NamedTensors& tensors) {
  std::vector<const NamedTensors::value_type*> sorted;
  for (const auto& entry : tensors) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(),
            [](const auto* a, const auto* b) { return a->first < b->first; });
  support::Checksum sum;
  for (const auto* entry : sorted) {
    const Tensor& tensor = entry->second;
    sum.add(entry->first + " " + tensor.describe() + "\n");
    sum.add({static_cast<const std::byte*>(tensor.data()),
             static_cast<size_t>(tensor.numel()) * tensor.item_size()});
  }
  return sum.hex();
}

}  // namespace fxjit::fx::archive
