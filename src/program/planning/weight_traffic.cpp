// What a program reads of weights in each call, to know which cache they come
// from.
#include <algorithm>

#include "src/passes/fusing/loop_facts.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/program/planning/builder.h"

namespace fxjit::program {
namespace {

// The constant that a value is or is a view of.
const fx::Node* constant_under(const fx::Node& node) {
  const fx::Node* root = &node;
  if (root->called_op() == &passes::as_strided_op()) root = root->arg_node(0);
  return root->is(fx::Opcode::get_attr) ? root : nullptr;
}

bool is_product_of_few(const passes::Region& region, int64_t rows) {
  if (region.kind != passes::Region::Kind::contraction ||
      std::ranges::any_of(region.graph->nodes(), [](const fx::Node* node) {
        return passes::is_window(*node);
      }))
    return false;
  int64_t count = 1;
  for (int d = 0; d + 1 < region.domain.size(); ++d) count *= region.domain[d];
  return count <= rows;
}

}  // namespace

int64_t few_row_weight_bytes(const passes::ModelGraph& model, int64_t rows) {
  std::unordered_set<const fx::Node*> counted;
  int64_t bytes = 0;
  for (const fx::Node* node : model.graph->nodes()) {
    if (!node->is(fx::Opcode::call_module) ||
        !is_product_of_few(model.region(*node), rows))
      continue;
    for (const fx::Node* input : node->all_input_nodes()) {
      const fx::Node* constant = constant_under(*input);
      if (!constant || !counted.insert(constant).second) continue;
      const Tensor& tensor = model.constant(*constant);
      if (tensor.dim() >= 2) bytes += tensor.numel() * 4;
    }
  }
  return bytes;
}

}  // namespace fxjit::program
