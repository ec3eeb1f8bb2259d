// Both managers of passes: order, rounds, checks, loops, failures.
#include "fxjit/fx/passes/pass_manager.h"

#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(PassManagers)

namespace TEST_FILE {

namespace passes = fx::passes;
using passes::GraphModuleRef;
using passes::Pass;
using passes::PassManager;
using passes::PassResult;

GraphModuleRef traced() {
  return fx::symbolic_trace(
      [](Value x) -> Value {
        const Value left = relu(x);
        return left + relu(-x);
      },
      {"x"});
}

GraphModuleRef traced_negations() {
  return fx::symbolic_trace(
      [](Value x) -> Value {
        const Value left = function("torch.neg", {x});
        const Value inner = function("torch.neg", {x});
        return left + function("torch.neg", {inner});
      },
      {"x"});
}

// The first call of one function becomes that of another.
bool replace(const GraphModuleRef& gm, const char* from, const char* to) {
  const auto calls = gm->graph().find_nodes(fx::Opcode::call_function,
                                            ops::get_function(from));
  if (calls.empty()) return false;
  calls[0]->set_target(ops::get_function(to));
  return true;
}

Pass relu_to_neg() {
  return Pass("relu_to_neg", [](const GraphModuleRef& gm) {
    return PassResult{gm, replace(gm, "torch.relu", "torch.neg")};
  });
}

Pass neg_to_tanh() {
  return passes::pass_result_wrapper(
      "neg_to_tanh",
      [](const GraphModuleRef& gm) { replace(gm, "torch.neg", "torch.tanh"); });
}

Pass add_to_sub() {
  return passes::pass_result_wrapper(
      "add_to_sub", [](const GraphModuleRef& gm) -> GraphModuleRef {
        gm->graph().find_node("add")->set_target(
            ops::get_function("torch.sub"));
        return gm;
      });
}

class Cosine : public passes::PassBase {
 public:
  std::string name() const override { return "Cosine"; }
  void requires_(const GraphModuleRef& gm) override { note("before", gm); }
  PassResult call(const GraphModuleRef& gm) override {
    return {gm, replace(gm, "torch.relu", "torch.cos")};
  }
  void ensures(const GraphModuleRef& gm) override { note("after", gm); }
  ValueList log;

 private:
  void note(const std::string& when, const GraphModuleRef& gm) {
    log.emplace_back(when + " " + std::to_string(gm->graph().size()));
  }
};

ValueList names(const PassManager& manager) {
  ValueList all;
  for (const Pass& pass : manager.passes()) all.emplace_back(pass.name());
  return all;
}

std::string text_of(const std::function<void()>& call,
                    std::string_view until = " [") {
  try {
    call();
  } catch (const Error& error) {
    const std::string text(error.message());
    return text.substr(0, text.find(until));
  }
  return "no error";
}

int64_t count(const nn::Module& module, const char* target) {
  const auto& gm = dynamic_cast<const fx::GraphModule&>(module);
  return static_cast<int64_t>(
      gm.graph()
          .find_nodes(fx::Opcode::call_function, ops::get_function(target))
          .size());
}

MIRROR_CASE(PassManagers, rounds_until_nothing_changes) {
  GraphModuleRef last;
  for (const int steps : {1, 2, 5}) {
    const PassResult result =
        PassManager({relu_to_neg()}, {}, {.steps = steps})(traced());
    expect_value("modified", result.modified);
    expect_graph(result.graph_module);
    last = result.graph_module;
  }
  expect_value("again", PassManager({relu_to_neg()})(last).modified);
  expect_outputs(last, {fill({4})});
}

MIRROR_CASE(PassManagers, wrapped_results) {
  PassManager manager;
  manager.add_pass(relu_to_neg());
  manager.add_pass(neg_to_tanh());
  manager.add_pass(add_to_sub());
  const PassResult result = manager(traced());
  expect_value("names", names(manager));
  expect_value("modified", result.modified);
  expect_graph(result.graph_module);
  expect_outputs(result.graph_module, {fill({4})});
}

MIRROR_CASE(PassManagers, passes_with_conditions) {
  const auto cosine = std::make_shared<Cosine>();
  const Pass pass(cosine);
  const PassResult result =
      PassManager({pass, pass}, {}, {.steps = 2})(traced());
  expect_value("log", cosine->log);
  expect_value("modified", result.modified);
  expect_graph(result.graph_module);
  expect_value("alone", (*cosine)(traced()).modified);
  expect_outputs(result.graph_module, {fill({4})});
}

MIRROR_CASE(PassManagers, passes_in_an_allowed_order) {
  const Pass first = relu_to_neg();
  const Pass second = neg_to_tanh();
  const Pass third = add_to_sub();
  PassManager manager(
      {third, second, first},
      {passes::this_before_that_pass_constraint(first, second),
       passes::this_before_that_pass_constraint(second, third)});
  expect_value("given", names(manager));
  manager.solve_constraints();
  expect_value("solved", names(manager));
  manager.validate_constraints();
  expect_graph(manager(traced()).graph_module);
}

MIRROR_CASE(PassManagers, constraints_added_later) {
  const Pass first = relu_to_neg();
  const Pass second = neg_to_tanh();
  PassManager manager({second});
  manager.validate_constraints();
  manager.add_pass(first);
  manager.add_constraint(
      passes::this_before_that_pass_constraint(first, second));
  const PassResult result = manager(traced());
  expect_value("order", names(manager));
  expect_graph(result.graph_module);
}

MIRROR_CASE(PassManagers, orders_refused) {
  const Pass first = relu_to_neg();
  const Pass second = neg_to_tanh();
  const auto before = passes::this_before_that_pass_constraint;
  PassManager circle({first, second},
                     {before(first, second), before(second, first)});
  expect_text("circle", text_of([&] { circle.solve_constraints(); }));
  expect_text("called", text_of([&] { circle(traced()); }));
  PassManager wrong({second, first}, {before(first, second)});
  expect_text("wrong",
              text_of([&] { wrong.validate_constraints(); }, ". Expected"));
}

MIRROR_CASE(PassManagers, checks_around_passes) {
  for (const bool after_each : {false, true}) {
    ValueList seen;
    PassManager manager(
        {relu_to_neg(), neg_to_tanh()}, {},
        {.steps = 3, .run_checks_after_each_pass = after_each});
    manager.add_checks([&](const nn::Module& module) {
      seen.emplace_back(count(module, "torch.relu"));
    });
    manager(traced());
    expect_value("seen", seen);
  }
}

MIRROR_CASE(PassManagers, failing_passes) {
  const Pass fails("fails", [](const GraphModuleRef&) -> PassResult {
    throw ValueError("too much");
  });
  PassManager manager({relu_to_neg(), neg_to_tanh(), fails});
  const auto gm = traced();
  expect_text("error", text_of([&] { manager(gm); }, "\n"));
  expect_graph(gm);
}

MIRROR_CASE(PassManagers, failing_checks) {
  PassManager manager({relu_to_neg()});
  manager.add_checks(
      [](const nn::Module&) { throw AssertionError("not like this"); });
  const auto gm = traced();
  expect_error([&] { manager(gm); });
  expect_graph(gm);
}

MIRROR_CASE(PassManagers, loops_by_number) {
  const PassResult result =
      PassManager({passes::loop_pass(neg_to_tanh(), 2)})(traced_negations());
  expect_graph(result.graph_module);
  expect_error([] { passes::loop_pass(neg_to_tanh(), std::nullopt); });
  expect_error([] {
    passes::loop_pass(neg_to_tanh(), 1,
                      [](const GraphModuleRef&) { return true; });
  });
}

MIRROR_CASE(PassManagers, loops_by_condition) {
  ValueList asked;
  const Pass loop = passes::loop_pass(
      neg_to_tanh(), std::nullopt, [&](const GraphModuleRef& gm) {
        const int64_t left = count(*gm, "torch.neg");
        asked.emplace_back(left);
        return left > 1;
      });
  const PassResult result = PassManager({loop})(traced_negations());
  expect_value("asked", asked);
  expect_graph(result.graph_module);
  expect_outputs(result.graph_module, {fill({4})});
}

MIRROR_CASE(PassManagers, passes_taken_out_and_replaced) {
  const Pass first = relu_to_neg();
  const Pass second = neg_to_tanh();
  PassManager manager({first, second});
  manager.add_pass(add_to_sub());
  expect_value("all", names(manager));
  manager.remove_pass({"neg_to_tanh", "unknown"});
  expect_value("left", names(manager));
  manager.replace_pass(first, second);
  expect_value("replaced", names(manager));
  expect_graph(manager(traced()).graph_module);
}

MIRROR_CASE(PassManagers, order_inside_of_loops) {
  const Pass first = relu_to_neg();
  const Pass second = neg_to_tanh();
  const Pass first_loop = passes::loop_pass(first, 5);
  const Pass second_loop = passes::loop_pass(second, 3);
  for (const auto& constraint :
       {passes::these_before_those_pass_constraint(first, second),
        passes::this_before_that_pass_constraint(first, second)}) {
    PassManager manager({second_loop, first_loop});
    manager.add_constraint(constraint);
    expect_text("order",
                text_of([&] { manager.validate_constraints(); },
                        ". Expected"));
  }
  PassManager manager(
      {first_loop, second_loop},
      {passes::these_before_those_pass_constraint(first, second)});
  manager.validate_constraints();
  expect_graph(manager(traced()).graph_module);
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
