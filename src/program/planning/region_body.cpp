#include "src/program/planning/region_body.h"

#include <algorithm>
#include <unordered_map>

#include "src/ops/table/op_facts.h"
#include "src/passes/fusing/loop_facts.h"
#include "src/tensor/visit.h"

namespace fxjit::program {

ValueList meta_args(const ValueList& node_args) {
  ValueList args;
  for (const Value& arg : node_args)
    args.push_back(map_leaves(arg, [](const Value& leaf) {
      return leaf.is_node() ? leaf.as_node()->val() : leaf;
    }));
  return args;
}

namespace {

class Composer {
 public:
  explicit Composer(const RegionCall& call) : call_(call) {}

  void bind_sum(const fx::Node& node);
  // Adds all nodes of the region, in order.
  void build(const std::function<bool(const fx::Node&)>& after_reduction);
  std::shared_ptr<RegionBody> finish();

 private:
  using Slot = RegionBody::Slot;

  Scalar input(const fx::Node& placeholder, bool after_reduction);
  Scalar value_of(const fx::Node& node, bool after_reduction);
  Scalar scalar_call(const fx::Node& node, bool after_reduction);
  Scalar reduction(const fx::Node& node);
  Scalar gather(const fx::Node& node);

  const RegionCall& call_;
  std::shared_ptr<RegionBody> made_ = std::make_shared<RegionBody>();
  ScalarBuilder builder_;
  std::unordered_map<const fx::Node*, Scalar> values_;
};

void Composer::bind_sum(const fx::Node& node) {
  made_->sum = &node;
  made_->slots.push_back({&node, false, -1, false});
  values_[&node] = builder_.input(0, compute_dtype(node.val_tensor().dtype()));
}

Scalar Composer::input(const fx::Node& placeholder, bool after_reduction) {
  const Slot wanted{&placeholder, after_reduction};
  std::vector<Slot>& slots = made_->slots;
  const auto at = std::ranges::find(slots, wanted) - slots.begin();
  if (at == std::ssize(slots)) slots.push_back(wanted);
  return builder_.input(static_cast<int>(at),
                        compute_dtype(placeholder.val_tensor().dtype()));
}

Scalar Composer::value_of(const fx::Node& node, bool after_reduction) {
  if (const auto known = values_.find(&node); known != values_.end())
    return known->second;
  return input(node, after_reduction);
}

Scalar Composer::scalar_call(const fx::Node& node, bool after_reduction) {
  std::vector<Scalar> inputs;
  for (const Value& arg : node.args())
    visit_leaves(arg, [&](const Value& leaf) {
      if (leaf.is_node())
        inputs.push_back(value_of(*leaf.as_node(), after_reduction));
    });
  Scalar result = builder_.inline_body(passes::body_of(node), inputs).front();
  const DType type = node.val_tensor().dtype();
  // What is cast to a half type is rounded, though more is computed in f32.
  if (ops::facts_of(*node.called_op()).rounds)
    result = builder_.cast(result, type);
  return builder_.cast(result, compute_dtype(type));
}

Scalar Composer::reduction(const fx::Node& node) {
  const Scalar input = value_of(*node.arg_node(0), false);
  const DType type = compute_dtype(node.val_tensor().dtype());
  const Prim prim = node.called_op()->row.reduce_prim;
  const bool truth = prim == Prim::reduce_any || prim == Prim::reduce_all;
  const Scalar value = builder_.cast(input, truth ? DType::boolean : type);
  return builder_.cast(builder_.apply(prim, value), type);
}

Scalar Composer::gather(const fx::Node& node) {
  const ops::GatherRoles& roles = ops::facts_of(*node.called_op()).gather;
  const auto input = [&](int place) -> const fx::Node& {
    return *node.arg_node(static_cast<size_t>(place));
  };
  const fx::Node &table = input(roles.table), &index = input(roles.index);
  int axis = -1;
  if (roles.kind == ops::GatherKind::elements)
    axis = wrap_dim(node.arg(static_cast<size_t>(roles.dim)).as_int(),
                    node.val_tensor().dim());
  made_->slots.push_back({&index, false, -1, true, axis});
  const auto index_slot = static_cast<int32_t>(made_->slots.size() - 1);
  builder_.input(index_slot, index.val_tensor().dtype());
  made_->slots.push_back({&table, false, index_slot, false, axis});
  return builder_.input(static_cast<int>(made_->slots.size() - 1),
                        compute_dtype(table.val_tensor().dtype()));
}

void Composer::build(
    const std::function<bool(const fx::Node&)>& after_reduction) {
  for (fx::NodePtr node : call_.region.graph->nodes()) {
    const ops::Op* op = node->called_op();
    if (!op || values_.contains(node)) continue;
    switch (op->row.lowering) {
      case ops::Lowering::scalar:
        values_[node] =
            scalar_call(*node, after_reduction && after_reduction(*node));
        break;
      case ops::Lowering::reduce:
        values_[node] = reduction(*node);
        break;
      case ops::Lowering::gather:
        values_[node] = gather(*node);
        break;
      default:
        throw InternalError("[" + std::string(op->name()) +
                            "] has no scalar form");
    }
  }
}

std::shared_ptr<RegionBody> Composer::finish() {
  std::vector<Scalar> results;
  for (const fx::Node* node : call_.result_nodes)
    results.push_back(values_.at(node));
  made_->body = builder_.finish(results);
  return std::move(made_);
}

}  // namespace

std::shared_ptr<const RegionBody> body_of_region(
    const RegionCall& call, const fx::Node* sum,
    const std::function<bool(const fx::Node&)>& after_reduction) {
  auto known = std::dynamic_pointer_cast<const RegionBody>(call.region.found);
  if (known && known->sum == sum) return known;
  Composer composer(call);
  if (sum) composer.bind_sum(*sum);
  composer.build(after_reduction);
  const std::shared_ptr<const RegionBody> made = composer.finish();
  if (!call.region.reads_sizes) call.region.found = made;
  return made;
}

namespace {

Access access_over(const Tensor& val, const Dims& domain) {
  Access access;
  access.dtype = val.dtype();
  access.outer = passes::broadcast_strides(val, domain);
  access.inner = access.outer[domain.size() - 1];
  access.outer.erase(domain.size() - 1);
  return access;
}

}  // namespace

ScalarBody bind_epilogue(const RegionCall& call, const fx::Node& node,
                         std::vector<OperandRef>& refs, Loops& loops) {
  const Dims& domain = node.val_tensor().sizes();
  const auto made = body_of_region(call, &node);
  for (size_t i = 1; i < made->slots.size(); ++i) {
    const Placed& extra = call.inputs.at(made->slots[i].source);
    loops.inputs.push_back(access_over(extra.val, domain));
    refs.push_back(extra.ref());
  }
  for (const Placed& result : call.results) {
    loops.outputs.push_back(access_over(result.val, domain));
    refs.push_back(result.ref());
  }
  return made->body;
}

}  // namespace fxjit::program
