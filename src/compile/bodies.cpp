#include "src/compile/bodies.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <set>

#include "src/compile/compiled_module.h"
#include "src/fx/graph/written_values.h"
#include "src/nn/member_value.h"

namespace fxjit {
namespace {

// The tensor that an operand of a call is in every call: an attribute of the
// graph around it. None for what was computed.
std::optional<Tensor> attribute_of(const fx::GraphModule& owner,
                                   const Value& operand) {
  const fx::Node* const node = operand.is_node() ? operand.as_node() : nullptr;
  if (!node || !node->is(fx::Opcode::get_attr)) return std::nullopt;
  const auto value = nn::member_value(owner.find_member(node->target_name()));
  if (!value || !value->is_tensor()) return std::nullopt;
  return value->as_tensor();
}

// A copy of the body that reads operands of the call which are attributes of
// its graph as attributes of its own, in place of its last placeholders:
// weights are then packed once, as those of the graph around are.
nn::Ref<fx::GraphModule> with_attributes(const fx::GraphModule& module,
                                         const fx::GraphModule& owner,
                                         const fx::Node& call) {
  nn::Ref<fx::GraphModule> body = module.copy();
  fx::Graph& graph = body->graph();
  const Value& operands = call.args().back();
  const std::vector<fx::NodePtr> inputs = graph.placeholders();
  if (!operands.is_sequence() || operands.size() > inputs.size()) return body;
  const std::vector<bool> written = fx::written_values(owner);
  const std::vector<bool> written_inside = fx::written_values(*body);
  const size_t first = inputs.size() - operands.size();
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto tensor = attribute_of(owner, operands.at(i));
    const fx::NodePtr input = inputs[first + i];
    if (!tensor || input->num_users() == 0 || written_inside[input->id()] ||
        written[operands.at(i).as_node()->id()])
      continue;
    std::string name = "operand_" + std::to_string(i);
    while (!std::holds_alternative<std::monostate>(body->find_member(name)))
      name += "_";
    body->register_buffer(name, *tensor);
    const auto place = graph.inserting_after(inputs.back());
    input->replace_all_uses_with(graph.get_attr(name));
  }
  body->recompile();
  return body;
}

}  // namespace

std::vector<CompiledBody> compile_bodies(const fx::GraphModule& owner,
                                         const fx::Node& call,
                                         const CompileOptions& options,
                                         const passes::PassHooks& hooks) {
  std::vector<CompiledBody> bodies;
  if (!call.is(fx::Opcode::call_function)) return bodies;
  for (const fx::Node* input : call.all_input_nodes()) {
    // What lies below a module may be shared with others.
    if (!input->is(fx::Opcode::get_attr) ||
        input->target_name().find('.') != std::string_view::npos)
      continue;
    const nn::Member member = owner.find_member(input->target_name());
    const auto* const module = std::get_if<nn::ModuleRef>(&member);
    auto body = std::dynamic_pointer_cast<fx::GraphModule>(
        module ? module->ptr() : nullptr);
    if (!body) continue;
    if (!compiled_module(*body))
      install_compiled(*body, with_attributes(*body, owner, call), options,
                       hooks);
    bodies.push_back({std::string(input->target_name()), std::move(body)});
  }
  return bodies;
}

std::vector<StepReport> body_steps(const std::vector<CompiledBody>& bodies) {
  std::vector<StepReport> steps;
  for (const CompiledBody& body : bodies) {
    std::vector<ProgramReport> last;  // Of each part.
    std::set<std::string> seen;
    for (ProgramReport& program :
         std::views::reverse(make_report(*body.module).programs))
      if (seen.insert(program.begin).second) last.push_back(std::move(program));
    for (ProgramReport& program : std::views::reverse(last))
      for (StepReport& step : program.steps) {
        step.body = body.name + (step.body.empty() ? "" : ".") + step.body;
        steps.push_back(std::move(step));
      }
  }
  return steps;
}

bool are_compiled(const std::vector<CompiledBody>& bodies) {
  const auto is_compiled = [](const ProgramReport& program) {
    return program.why_not.empty() &&
           std::ranges::none_of(program.steps, [](const StepReport& step) {
             return step.by == ComputedBy::interpreter;
           });
  };
  return std::ranges::all_of(bodies, [&](const CompiledBody& body) {
    return std::ranges::all_of(make_report(*body.module).programs, is_compiled);
  });
}

}  // namespace fxjit
