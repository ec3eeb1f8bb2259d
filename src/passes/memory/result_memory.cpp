#include "src/passes/memory/result_memory.h"

#include <map>
#include <unordered_set>

#include "src/ops/table/aliasing.h"
#include "src/tensor/memory_order.h"

namespace fxjit::passes {
namespace {

bool is_constant(const Value& leaf) {
  return leaf.is_tensor() ||
         GraphBuilder::node_of(leaf)->is(fx::Opcode::get_attr);
}

// as_strided names places from the start of memory, which a caller's tensor
// need not be: lowering has to see and check it.
bool comes_by_place(const fx::Node& node, const fx::Node* base) {
  std::vector<const fx::Node*> open{&node};
  std::unordered_set<const fx::Node*> seen{&node};
  while (!open.empty()) {
    const fx::Node* const at = open.back();
    open.pop_back();
    const ops::Op* const op = at->called_op();
    if (at == base || !op || !ops::may_alias(*op)) continue;
    if (ops::aliasing(*op) == ops::Aliasing::places) return true;
    for (const fx::Node* input : at->all_input_nodes())
      if (seen.insert(input).second) open.push_back(input);
  }
  return false;
}

class ResultPlacer {
 public:
  explicit ResultPlacer(GraphBuilder& builder) : builder_(builder) {}

  PlacedResult place(const Value& result) {
    visit_leaves(result, [&](const Value& leaf) {
      if (leaf.is_proxy()) note(leaf);
    });
    PlacedResult placed;
    placed.value = map_leaves(result, [&](const Value& leaf) -> Value {
      if (!leaf.is_proxy() && !leaf.is_tensor()) return leaf;
      const int32_t id = builder_.memory_of(leaf).id;
      const bool outside = builder_.is_outside(id);
      placed.memory.push_back({outside ? -1 : id, Tensor()});
      if (is_constant(leaf) || !is_shared(leaf, outside)) return leaf;
      placed.memory.back().view = leaf.as_proxy()->val().as_tensor();
      return base_of(leaf);
    });
    return placed;
  }

 private:
  void note(const Value& leaf) {
    const fx::Node*& first = first_[builder_.memory_of(leaf).id];
    const fx::Node* const node = GraphBuilder::node_of(leaf);
    if (first && first != node) several_[builder_.memory_of(leaf).id] = true;
    first = node;
  }

  bool is_shared(const Value& leaf, bool outside) const {
    const ValueMemory memory = builder_.memory_of(leaf);
    const fx::Node* const node = GraphBuilder::node_of(leaf);
    return memory.base != node && !comes_by_place(*node, memory.base) &&
           (outside || several_.contains(memory.id) ||
            !is_dense(node->val_tensor()));
  }

  // Outputs are dense and begin with their memory; views with gaps are views of
  // one.
  Value base_of(const Value& leaf) {
    const Value base = builder_.base_of(leaf);
    const fx::Node* const node = GraphBuilder::node_of(base);
    const Tensor& val = node->val_tensor();
    if (!node->is(fx::Opcode::placeholder) && !node->is(fx::Opcode::get_attr) &&
        (!is_dense(val) || val.offset() != 0))
      builder_.refuse("results share memory that is not dense");
    return base;
  }

  GraphBuilder& builder_;
  // By memory:
  std::map<int32_t, const fx::Node*> first_;
  std::map<int32_t, bool> several_;
};

}  // namespace

PlacedResult place_result(GraphBuilder& builder, const Value& result) {
  return ResultPlacer(builder).place(result);
}

}  // namespace fxjit::passes
