// CapabilityBasedPartitioner, fuse_by_partitions, PassManager.
#include "fxjit/fx/passes/partitioner.h"
#include "fxjit/fx/passes/fuser_utils.h"
#include "fxjit/fx/passes/pass_manager.h"
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {
namespace TEST_FILE {

using fx::symbolic_trace;
namespace passes = fx::passes;

passes::OperatorSupportRef supports(std::vector<std::string> names) {
  return passes::create_op_support(
      [names](const nn::Module&, const fx::Node& node) {
        if (!node.is(fx::Opcode::call_function)) return false;
        const std::string_view target = node.target_name();
        const auto name = target.substr(target.rfind('.') + 1);
        return std::find(names.begin(), names.end(), name) != names.end();
      });
}

Value chain_of(Value x) {
  Value a = relu(x);
  Value b = neg(a);
  Value c = sigmoid(b);
  Value d = relu(c);
  return neg(d);
}

Value diamond(Value x, Value y) {
  Value a = add(x, y);
  Value b = relu(a);
  Value c = neg(a);
  Value d = add(b, c);
  Value e = add(d, y);
  return Value::tuple({e, b});
}

nn::Ref<fx::GraphModule> traced_chain() {
  return symbolic_trace(chain_of, {"x"});
}
nn::Ref<fx::GraphModule> traced_diamond() {
  return symbolic_trace(diamond, {"x", "y"});
}

passes::Pass replace_by(const std::string& name, const char* from,
                        const char* to) {
  return passes::pass_result_wrapper(
      name, [from, to](const passes::GraphModuleRef& gm) {
        for (fx::NodePtr node : gm->graph().nodes())
          if (node->target_name() == from)
            node->set_target(ops::get_function(to));
      });
}

class Partitioner : public Case {
 protected:
  static std::string lines_of(const std::vector<passes::Partition>& found) {
    std::string lines;
    for (const passes::Partition& part : found) {
      lines += (lines.empty() ? "" : "\n") + std::to_string(part.id) + ":";
      for (const fx::Node* node : part.nodes)
        lines += " " + std::string(node->name());
    }
    return lines;
  }
  nn::Ref<fx::GraphModule> partition(
      const nn::Ref<fx::GraphModule>& gm, passes::OperatorSupportRef support,
      const ValueList& inputs, const passes::PartitionerOptions& options = {}) {
    const std::string before = gm->graph().str();
    passes::CapabilityBasedPartitioner partitioner(*gm, std::move(support),
                                                   options);
    const auto found = partitioner.propose_partitions();
    EXPECT_EQ(gm->graph().str(), before);
    expect_text("partitions", lines_of(found));
    partitioner.fuse_partitions(found);
    expect_graph(gm);
    for (const auto& [name, child] : gm->children()) {
      expect_text("submodule", name);
      expect_graph(dynamic_cast<fx::GraphModule&>(*child).graph());
    }
    expect_outputs(gm, inputs);
    return gm;
  }
};

MIRROR_CASE(Partitioner, interrupted_chain) {
  partition(traced_chain(), supports({"relu", "neg"}), {fill({3, 4}, 1)});
}

MIRROR_CASE(Partitioner, single_nodes) {
  partition(traced_chain(), supports({"sigmoid", "neg"}), {fill({3, 4}, 1)},
            {.allows_single_node_partition = true});
}

MIRROR_CASE(Partitioner, single_nodes_refused) {
  partition(traced_chain(), supports({"sigmoid"}), {fill({3, 4}, 1)});
}

MIRROR_CASE(Partitioner, diamond_with_a_hole) {
  partition(traced_diamond(), supports({"add", "neg"}),
            {fill({3, 4}, 1), fill({3, 4}, 2)});
}

MIRROR_CASE(Partitioner, everything) {
  partition(traced_diamond(), supports({"add", "neg", "relu"}),
            {fill({3, 4}, 1), fill({3, 4}, 2)});
}

MIRROR_CASE(Partitioner, horizontal) {
  const auto gm = symbolic_trace(
      [](Value x, Value y, Value z) -> Value {
        Value a = neg(x);
        Value b = relu(a);
        Value c = neg(y);
        Value d = relu(c);
        Value e = sigmoid(z);
        Value g = neg(e);
        return Value::tuple({b, d, g});
      },
      {"x", "y", "z"});
  partition(gm, supports({"neg", "relu"}),
            {fill({3, 4}, 1), fill({3, 4}, 2), fill({3, 4}, 3)});
}

MIRROR_CASE(Partitioner, levels) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        Value a = neg(x);
        Value b = sigmoid(a);
        Value c = neg(b);
        Value d = neg(x);
        Value e = add(c, d);
        Value g = sigmoid(e);
        Value h = neg(g);
        Value i = add(h, a);
        return add(i, neg(d));
      },
      {"x"});
  partition(gm, supports({"neg", "add"}), {fill({3, 4}, 1)});
}

MIRROR_CASE(Partitioner, getitems_follow_their_producer) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        Value a = getitem(split(neg(x), 2), 0);
        Value b = neg(x);
        Value c = relu(a);
        return Value::tuple({relu(c), b});
      },
      {"x"});
  partition(gm, supports({"neg", "relu", "getitem"}), {fill({4, 3}, 1)});
}

MIRROR_CASE(Partitioner, supported_by_chains) {
  partition(traced_chain(),
            passes::chain(
                {passes::any_chain({supports({"relu"}),
                                    supports({"neg", "sigmoid"})}),
                 passes::OpSupports::decline_if_node_in_names({"neg_1"})}),
            {fill({3, 4}, 1)});
}

MIRROR_CASE(Partitioner, support_by_dict) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value { return neg(relu(add(x, x))); }, {"x"});
  const passes::OperatorSupport support(
      {{"torch.relu", std::nullopt}, {"torch.neg", std::nullopt}});
  std::string names;
  for (const fx::Node* node : gm->graph().nodes())
    if (support.is_node_supported(*gm, *node))
      names += (names.empty() ? "" : " ") + std::string(node->name());
  expect_text("supported", names);
}

MIRROR_CASE(Partitioner, fused_by_hand) {
  const auto gm = traced_diamond();
  auto node = [&](const char* name) { return gm->graph().find_node(name); };
  passes::fuse_by_partitions(
      *gm, {{node("relu"), node("neg")}, {node("add_1"), node("add_2")}},
      "part_", /*always_return_tuple=*/true);
  expect_graph(gm);
  expect_code(gm);
  for (const char* name : {"part_0", "part_1"})
    expect_graph(
        dynamic_cast<fx::GraphModule&>(gm->get_submodule(name)).graph());
}

MIRROR_CASE(Partitioner, fusing_a_cycle) {
  const auto gm = traced_chain();
  const std::string before = gm->graph().str();
  expect_error([&] {
    passes::fuse_by_partitions(
        *gm, {{gm->graph().find_node("relu"), gm->graph().find_node("relu_1")}});
  });
  EXPECT_EQ(gm->graph().str(), before);
}

MIRROR_CASE(Partitioner, pass_manager) {
  const auto first = replace_by("first", "torch.relu", "torch.neg");
  const auto second = replace_by("second", "torch.neg", "torch.sigmoid");
  const std::pair<passes::Pass, passes::Pass> orders[] = {{first, second},
                                                          {second, first}};
  for (const auto& [earlier, later] : orders) {
    passes::PassManager manager({second, first});
    manager.add_constraint(
        passes::this_before_that_pass_constraint(earlier, later));
    const auto result = manager(traced_chain());
    expect_value("modified", result.modified);
    expect_graph(result.graph_module);
  }
}

Value mixed(Value x, Value y) {
  Value a = neg(x);
  Value b = sigmoid(a);
  Value c = relu(a);
  Value d = neg(y);
  Value e = relu(d);
  Value g = add(c, b);
  Value h = add(g, e);
  Value first = neg(h);
  Value second = relu(b);
  return Value::tuple({first, second, neg(c)});
}

MIRROR_CASE(Partitioner, vertical_only) {
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"neg", "relu", "add"}, {"neg", "relu"},
        {"neg", "sigmoid"}})
    for (const bool skip : {false, true})
      partition(symbolic_trace(mixed, {"x", "y"}), supports(names),
                {fill({3, 4}, 1), fill({3, 4}, 2)},
                {.allows_single_node_partition = true,
                 .skip_horizontal_fusion = skip});
}

MIRROR_CASE(Partitioner, independent_consumers) {
  for (const bool skip : {false, true})
    partition(symbolic_trace(
                  [](Value x) -> Value {
                    Value a = sigmoid(x);
                    Value b = neg(relu(a));
                    return Value::tuple({b, neg(relu(a))});
                  },
                  {"x"}),
              supports({"neg", "relu"}), {fill({3, 4}, 1)},
              {.skip_horizontal_fusion = skip});
}

MIRROR_CASE(Partitioner, non_compute_ops) {
  auto turned = [](const Value& x) {
    return function("torch.permute", {x, Value::tuple({1, 0})});
  };
  for (const std::vector<std::string>& ops :
       {std::vector<std::string>{}, {"torch.permute"}}) {
    const auto gm = symbolic_trace(
        [&](Value x) -> Value {
          Value a = turned(x);
          Value b = relu(turned(a));
          Value c = neg(turned(b));
          Value d = turned(turned(c));
          Value first = sigmoid(d);
          return Value::tuple({first, turned(sigmoid(x))});
        },
        {"x"});
    const passes::CapabilityBasedPartitioner partitioner(
        *gm, supports({"relu", "neg", "permute"}), {.non_compute_ops = ops});
    auto found = partitioner.propose_partitions();
    partitioner.remove_bookend_non_compute_ops(found);
    expect_text("partitions", lines_of(found));
  }
}

MIRROR_CASE(Partitioner, allowed_alone) {
  partition(traced_chain(), supports({"sigmoid", "neg"}), {fill({3, 4}, 1)},
            {.allowed_single_node_partition_ops = {"torch.neg"}});
}

MIRROR_CASE(Partitioner, cycles_through_outside_nodes) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value {
        Value a = neg(x);
        Value b = sigmoid(a);
        Value c = neg(y);
        Value d = add(a, c);
        Value e = add(b, c);
        Value g = sigmoid(d);
        Value first = add(g, e);
        return Value::tuple({first, neg(a)});
      },
      {"x", "y"});
  partition(gm, supports({"neg", "add"}), {fill({3, 4}, 1), fill({3, 4}, 2)});
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
