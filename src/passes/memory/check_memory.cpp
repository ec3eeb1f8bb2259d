#include "src/passes/memory/check_memory.h"

#include <algorithm>

#include "src/support/memory/memory_limit.h"
#include "src/tensor/sizes/table.h"

namespace fxjit::passes {
namespace {

// Bytes from the first to the last element: views of broadcast memory need no
// more.
Size spanned_bytes(const Tensor& t) {
  if (t.numel() == 0) return 0;
  Size elements = 1;
  for (int d = 0; d < t.dim(); ++d)
    elements += (t.sizes()[d] - 1) * t.strides()[d];
  return elements * static_cast<int64_t>(t.item_size());
}

// Of a named size this is a guard: larger ones are another kind of inputs.
void check_bytes(Size bytes) {
  const SizeTable::Asker asker(nullptr, [](const void*) {
    return std::string("the memory of this machine");
  });
  const auto limit = static_cast<int64_t>(
      std::min<size_t>(support::memory_bytes(), INT64_MAX));
  if (bytes.is_number() || bytes > limit)
    support::check_memory(static_cast<size_t>(hint(bytes)));
}

void check_call(const fx::Node& node) {
  try {
    visit_leaves(node.val(), [](const Value& leaf) {
      if (leaf.is_tensor()) check_bytes(spanned_bytes(leaf.as_tensor()));
    });
  } catch (RuntimeError& error) {
    error.extend("", node.error_context());
    throw;
  }
}

}  // namespace

void check_memory(const ModelGraph& model) {
  for (const fx::Node* node : model.graph->nodes())
    if (node->called_op()) check_call(*node);
}

}  // namespace fxjit::passes
