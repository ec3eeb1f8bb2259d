#include "src/compile/bodies.h"

#include <algorithm>
#include <ranges>
#include <set>

#include "src/compile/compiled_module.h"

namespace fxjit {

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
    if (!compiled_module(*body)) install_compiled(*body, options, hooks);
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
