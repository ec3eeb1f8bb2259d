// Calls of a GraphBuilder on constants.
#include <algorithm>

#include "src/ops/table/op_facts.h"
#include "src/passes/call_key.h"
#include "src/passes/folded_weights.h"
#include "src/passes/lowering/graph_builder.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/tensor/sizes/named.h"

namespace fxjit::passes {
namespace {

// Results up to this size are computed at once.
constexpr int64_t kFoldBytes = 1 << 20;

int64_t bytes_of(const Tensor& tensor) {
  return tensor.numel() * static_cast<int64_t>(tensor.item_size());
}

}  // namespace

// Views of constants are views of their memory; small results are computed.
// Large ones are weights, kept once for all graphs of a module; what is larger
// than its sources is computed by each call, that it takes no memory. Constants
// have no named sizes.
GraphBuilder::Folding GraphBuilder::folding_of(const ops::Op& op,
                                               const ValueList& args,
                                               const Value& val) const {
  if (!is_foldable(op) || !val.is_tensor()) return Folding::none;
  const bool widens = ops::facts_of(op).widens;
  if (widens && !options_.lower) return Folding::none;
  const Tensor* only = nullptr;
  int tensors = 0, constants = 0;
  int64_t source_bytes = 0;
  bool of_made = false;
  for (const Value& arg : args)
    visit_leaves(arg, [&](const Value& leaf) {
      if (!leaf.is_proxy()) return;
      ++tensors;
      only = constant_of(leaf);
      if (only == nullptr) return;
      ++constants;
      source_bytes += bytes_of(*only);
      of_made |= recipes_.know(*only);
    });
  if (constants < tensors || has_name(val)) return Folding::none;
  const Tensor& out = val.as_tensor();
  const bool view =
      tensors == 1 &&
      (op.row.lowering == ops::Lowering::view ||
       (op.row.lowering == ops::Lowering::reshape &&
        view_strides(only->sizes(), only->strides(), out.sizes())));
  const int64_t bytes = bytes_of(out);
  if (view || widens || (bytes <= kFoldBytes && !of_made)) return Folding::now;
  const bool grows = bytes > std::max(kFoldBytes, source_bytes);
  const bool keeps = options_.folded != nullptr && !grows &&
                     !std::ranges::any_of(args, [](const Value& arg) {
                       return has_name(arg);
                     });
  return keeps ? Folding::once : Folding::none;
}

// Undefined where how it is made takes too long to tell.
Tensor GraphBuilder::folded_once(const ops::Op& op, const ValueList& args,
                                 const Value& val) {
  std::optional<WeightRecipe> recipe = recipes_.of(op, args);
  if (!recipe) return {};
  const Tensor made = options_.folded->get(recipe->sources, recipe->calls, [&] {
    return std::vector{computed_when_read(op, args, val.as_tensor())};
  })[0];
  recipes_.add(made, std::move(*recipe));
  return made;
}

Value GraphBuilder::fold(const ops::Op& op, const ValueList& args,
                         const Value& val) {
  const Folding how = folding_of(op, args, val);
  if (how == Folding::none) return {};
  const ValueList nodes = nodes_of(args);
  const size_t hash = call_hash(op, nodes);
  auto [first, last] = folded_.equal_range(hash);
  for (; first != last; ++first)
    if (first->second.op == &op && identical(first->second.args, nodes))
      return proxy(first->second.constant);
  bool computed = true;  // Unless it is a view of what someone holds.
  ValueList real;
  for (const Value& arg : args) real.push_back(with_constants(arg));
  const Tensor result = how == Folding::once
                            ? folded_once(op, real, val)
                            : ops::run_eager({op, real}).as_tensor();
  if (!result.defined()) return {};
  for (const Value& arg : args)
    visit_leaves(arg, [&](const Value& leaf) {
      if (const Tensor* tensor = constant_of(leaf))
        computed = computed && (tensor->storage() != result.storage() ||
                                node_of(leaf)->meta().contains("computed"));
    });
  const fx::NodePtr made = node_of(constant(result, computed));
  folded_.emplace(hash, Folded{&op, nodes, made});
  // Equal calls share the constant, not the memory that it stands for.
  return proxy(made);
}

}  // namespace fxjit::passes
