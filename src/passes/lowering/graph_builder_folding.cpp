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

Size bytes_of(const Tensor& tensor) {
  return tensor.numel() * static_cast<int64_t>(tensor.item_size());
}

// Whether a call picks whole rows of a table that is no result of calls, by
// places that follow from sizes, or as embeddings do. To read the rows in each
// call takes no longer than to read a constant of them, which would be memory
// of each program. Stored indices otherwise put weights in order.
class PickedRows {
 public:
  void add(const Tensor& tensor, bool computed) {
    if (is_integral(tensor.dtype()))
      (computed ? made_indices_ : stored_indices_) += 1;
    else if (!computed && !table_ && tensor.dim() > 1)
      table_ = &tensor;
    else
      others_ = true;
  }
  bool are_long(const ops::Op& op, const Tensor& out) const {
    constexpr size_t kLongBytes = 256;
    const bool embeds = ops::facts_of(op).gather.kind == ops::GatherKind::rows;
    if (!table_ || others_ || out.dim() == 0 ||
        op.row.lowering == ops::Lowering::scalar ||
        (embeds ? made_indices_ + stored_indices_ == 0
                : made_indices_ == 0 || stored_indices_ > 0))
      return false;
    const Size row = table_->size(-1);
    return row.is_number() && out.size(-1).word() == row.word() &&
           static_cast<size_t>(row) * out.item_size() >= kLongBytes;
  }

 private:
  const Tensor* table_ = nullptr;
  int made_indices_ = 0, stored_indices_ = 0;
  bool others_ = false;
};

bool any_has_name(const ValueList& args) {
  return std::ranges::any_of(args,
                             [](const Value& arg) { return has_name(arg); });
}

}  // namespace

// Views of constants are views of their memory; small results are computed.
// Large ones are weights, kept once for all graphs of a module; what is larger
// than its sources is computed by each call, that it takes no memory. What
// depends on named sizes is computed for each tuple of them, as it is for these
// numbers; where calls write, its memory is followed as that of other results.
// A captured graph of numbers has tensors, and no calls, in place of all that
// follows from sizes alone.
GraphBuilder::Folding GraphBuilder::folding_of(const ops::Op& op,
                                               const ValueList& args,
                                               const Value& val) const {
  if (!is_foldable(op) || !val.is_tensor()) return Folding::none;
  const Tensor* only = nullptr;
  int tensors = 0, constants = 0;
  Size source_bytes = 0;
  bool alone = !options_.lower;
  PickedRows rows;
  bool of_made = false, sized = has_name(val) || any_has_name(args);
  for (const Value& arg : args)
    visit_leaves(arg, [&](const Value& leaf) {
      if (!leaf.is_proxy()) return;
      ++tensors;
      only = held_by(leaf);
      if (only == nullptr) return;
      ++constants;
      source_bytes += bytes_of(*only);
      of_made |= recipes_.know(*only);
      sized |= only->is_meta();
      const bool computed = node_of(leaf)->meta().contains("computed");
      alone = alone && computed;
      rows.add(*only, computed);
    });
  if (constants < tensors) return Folding::none;
  if (sized && options_.is_written && options_.is_written())
    return Folding::none;
  if (sized && (alone || tensors == 0)) return Folding::sized;
  const bool widens = ops::facts_of(op).widens;
  if (widens && !options_.lower) return Folding::none;
  const Tensor& out = val.as_tensor();
  const bool view =
      tensors == 1 &&
      (op.row.lowering == ops::Lowering::view ||
       (op.row.lowering == ops::Lowering::reshape &&
        view_strides(only->sizes(), only->strides(), out.sizes())));
  const Folding now = sized ? Folding::sized : Folding::now;
  if (view || widens) return now;
  if (rows.are_long(op, out)) return Folding::none;
  const Size bytes = bytes_of(out);
  if (!of_made && bytes <= kFoldBytes) return now;
  const bool grows = bytes > larger(kFoldBytes, source_bytes);
  if (options_.folded == nullptr || grows) return Folding::none;
  return sized ? Folding::sized : Folding::once;
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

void GraphBuilder::adopt(const std::vector<MadeConstant>& made) {
  made_ = made;
  for (const MadeConstant& each : made)
    presents_.emplace(each.stand_in.id(), each.present);
}

Value GraphBuilder::present_of(const Value& value) const {
  return map_leaves(value, [&](const Value& leaf) -> Value {
    if (leaf.is_named_size()) return hint(leaf.as_size());
    if (!leaf.is_tensor() || !leaf.as_tensor().is_meta()) return leaf;
    return presents_.at(leaf.as_tensor().id());
  });
}

Tensor GraphBuilder::folded_for_sizes(const ops::Op& op,
                                      const ValueList& args) {
  const Tensor val = ops::infer({op, meta_of(args)}).as_tensor();
  ValueList present;
  for (const Value& arg : args) present.push_back(present_of(arg));
  const Tensor stand_in = Tensor::meta(val.sizes(), val.dtype(), val.strides());
  const Tensor made = ops::run_eager({op, present}).as_tensor();
  made_.push_back({stand_in, &op, args, made});
  presents_.emplace(stand_in.id(), made);
  return stand_in;
}

Value GraphBuilder::folded_constant(const ValueList& args, const Tensor& result,
                                    Folding how) {
  const auto storage_of = [&](const Tensor& tensor) {
    return how == Folding::sized ? present_of(tensor).as_tensor().storage()
                                 : tensor.storage();
  };
  bool computed = true;  // Unless it is a view of what someone holds.
  for (const Value& arg : args)
    visit_leaves(arg, [&](const Value& leaf) {
      if (const Tensor* tensor = held_by(leaf))
        computed = computed && (storage_of(*tensor) != storage_of(result) ||
                                node_of(leaf)->meta().contains("computed"));
    });
  return constant(result, computed);
}

Value GraphBuilder::fold(const ops::Op& op, const ValueList& args,
                         const Value& val) {
  const Folding how = folding_of(op, args, val);
  if (how == Folding::none) return {};
  const ValueList nodes = nodes_of(args);
  const size_t hash = call_hash(op, nodes);
  // As tensors of a captured graph, which are not compared.
  const bool apart = how == Folding::sized && !options_.lower;
  auto [first, last] = folded_.equal_range(hash);
  if (apart) first = last;
  for (; first != last; ++first)
    if (first->second.op == &op && identical(first->second.args, nodes))
      return proxy(first->second.constant);
  ValueList real;
  for (const Value& arg : args)
    real.push_back(map_leaves(arg, [&](const Value& leaf) -> Value {
      const Tensor* const held = held_by(leaf);
      return held ? Value(*held) : leaf;
    }));
  const Tensor result = how == Folding::once ? folded_once(op, real, val)
                        : how == Folding::sized
                            ? folded_for_sizes(op, real)
                            : ops::run_eager({op, real}).as_tensor();
  if (!result.defined()) return {};
  const fx::NodePtr made = node_of(folded_constant(args, result, how));
  if (!apart) folded_.emplace(hash, Folded{&op, nodes, made});
  // Equal calls share the constant, not the memory that it stands for.
  return proxy(made);
}

}  // namespace fxjit::passes
