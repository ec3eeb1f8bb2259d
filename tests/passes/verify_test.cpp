// verify() accepts what the passes make and names what does not fit a stage.

#include "src/passes/fusing/fuse.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/normalize.h"
#include "tests/passes/pass_matchers.h"

namespace fxjit {
namespace TEST_FILE {

using passes::GraphStage;
using passes::ModelGraph;

ModelGraph normalized() {
  const Tensor weight = random_tensor({8, 6});
  const auto gm = fx::symbolic_trace(
      [&](Value x) {
        return softmax(transpose(F::linear(x, weight), 0, 1), -1);
      },
      {"x"}, "f");
  const ValueList inputs{random_tensor({5, 6})};
  return passes::normalize(*gm, inputs);
}

ModelGraph of_stage(GraphStage stage) {
  ModelGraph model = normalized();
  if (stage == GraphStage::normalized) return model;
  model = passes::lower(model);
  return stage == GraphStage::lowered ? std::move(model) : passes::fuse(model);
}

fx::NodePtr find_call(const ModelGraph& model, std::string_view op) {
  for (fx::NodePtr node : model.graph->nodes())
    if (node->called_op() && node->called_op()->name() == op) return node;
  throw InternalError("the planted fault has no place");
}

std::string fault(const ModelGraph& model) {
  try {
    passes::verify(model);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

class Verify : public ::testing::TestWithParam<GraphStage> {};

TEST_P(Verify, AcceptsWhatThePassesMake) {
  EXPECT_EQ(fault(of_stage(GetParam())), "");
}

TEST_P(Verify, ValueLost) {
  ModelGraph model = of_stage(GetParam());
  const fx::NodePtr last = model.graph->output_node()->prev();
  last->set_val(Value());
  EXPECT_THAT(fault(model), HasSubstr("has no inferred value"));
  EXPECT_THAT(fault(model), HasSubstr("%" + std::string(last->name())));
}

TEST_P(Verify, UseBeforeDefinition) {
  ModelGraph model = of_stage(GetParam());
  const auto nodes = model.graph->nodes().list();
  nodes.front()->prepend(nodes[nodes.size() - 2]);
  EXPECT_NE(fault(model), "");
}

TEST_P(Verify, CallOfAMethod) {
  ModelGraph model = of_stage(GetParam());
  const fx::NodePtr output = model.graph->output_node();
  auto scope = model.graph->inserting_before(output);
  const fx::NodePtr node = model.graph->call_method("relu", {output->arg(0)});
  node->set_val(output->arg_node(0)->val());
  EXPECT_THAT(fault(model), HasSubstr("is not a call of a known op"));
}

TEST_P(Verify, ArgumentsLeftOut) {
  ModelGraph model = of_stage(GetParam());
  const fx::NodePtr output = model.graph->output_node();
  auto scope = model.graph->inserting_before(output);
  const fx::NodePtr node = model.graph->call_function(
      ops::get_op("gelu").canonical, {output->arg(0)});
  node->set_val(output->arg_node(0)->val());
  EXPECT_THAT(fault(model), HasSubstr("does not bind every parameter"));
}

TEST_P(Verify, ConstantThatDoesNotExist) {
  ModelGraph model = of_stage(GetParam());
  model.constants.clear();
  EXPECT_THAT(fault(model), HasSubstr("constant"));
}

INSTANTIATE_TEST_SUITE_P(Forms, Verify,
                         ::testing::Values(GraphStage::normalized,
                                           GraphStage::lowered,
                                           GraphStage::fused),
                         [](const auto& info) -> std::string {
                           return info.param == GraphStage::normalized
                                      ? "normalized"
                                  : info.param == GraphStage::lowered
                                      ? "lowered"
                                      : "fused";
                         });

TEST(VerifyLowered, ViewThatWasNotFlattened) {
  ModelGraph model = of_stage(GraphStage::normalized);
  model.stage = GraphStage::lowered;
  EXPECT_THAT(fault(model), HasSubstr("is a view"));
}

TEST(VerifyLowered, ViewOfAView) {
  ModelGraph model = of_stage(GraphStage::lowered);
  const fx::NodePtr view = find_call(model, "fxjit.as_strided");
  auto scope = model.graph->inserting_after(view);
  ValueList args(view->args().begin(), view->args().end());
  args[0] = view;
  const fx::NodePtr second =
      model.graph->call_function(view->called_op()->canonical, args);
  second->set_val(view->val());
  EXPECT_THAT(fault(model), HasSubstr("is a view of a view"));
}

TEST(VerifyLowered, ViewOutsideOfItsInput) {
  ModelGraph model = of_stage(GraphStage::lowered);
  const fx::NodePtr view = find_call(model, "fxjit.as_strided");
  view->set_arg(3, int64_t{1000});
  const Tensor val = view->val_tensor();
  view->set_val(Tensor::meta(val.sizes(), val.dtype(), val.strides(), 1000));
  EXPECT_THAT(fault(model), HasSubstr("reaches outside"));
}

TEST(VerifyLowered, CompositeCall) {
  ModelGraph model = of_stage(GraphStage::lowered);
  const fx::NodePtr output = model.graph->output_node();
  auto scope = model.graph->inserting_before(output);
  const ops::Op& op = ops::get_op("softmax");
  const fx::NodePtr node = model.graph->call_function(
      op.canonical, ops::bind(op, ValueList{output->arg(0), -1}, {}));
  node->set_val(output->arg_node(0)->val());
  EXPECT_THAT(fault(model), HasSubstr("is not lowered"));
}

TEST(VerifyFused, UnknownRegion) {
  ModelGraph model = of_stage(GraphStage::fused);
  const std::string name = model.regions.begin()->first;
  model.regions.erase(name);
  EXPECT_THAT(fault(model), HasSubstr("calls an unknown region"));
}

TEST(VerifyFused, CallOutsideOfRegions) {
  ModelGraph model = of_stage(GraphStage::lowered);
  model.stage = GraphStage::fused;
  EXPECT_THAT(fault(model), HasSubstr("is in no region"));
}

TEST(VerifyFused, RegionWithFewerInputsThanGiven) {
  ModelGraph model = of_stage(GraphStage::fused);
  for (fx::NodePtr node : model.graph->nodes())
    if (node->is(fx::Opcode::call_module)) node->set_args_kwargs({}, {});
  EXPECT_THAT(fault(model), HasSubstr("inputs"));
}

TEST(VerifyFused, RegionWithABrokenGraph) {
  ModelGraph model = of_stage(GraphStage::fused);
  passes::Region& region = model.regions.begin()->second;
  const auto nodes = region.graph->nodes().list();
  nodes.front()->prepend(nodes[nodes.size() - 2]);
  EXPECT_NE(fault(model), "");
}

}  // namespace TEST_FILE
}  // namespace fxjit
