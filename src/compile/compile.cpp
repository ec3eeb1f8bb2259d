#include "fxjit/compile.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "fxjit/log.h"
#include "src/compile/bound_outputs.h"
#include "src/compile/compiled_module.h"
#include "src/compile/environment.h"

namespace fxjit {
namespace {

std::shared_ptr<CompiledModule> require(const fx::GraphModule& module,
                                        const char* what) {
  auto compiled = compiled_module(module);
  if (!compiled)
    throw UserError(std::string(what) + ": the module was not compiled" +
                    (environment().interpreter_only
                         ? ", as FXJIT_BACKEND=interpreter asks"
                         : "; call compile first"));
  return compiled;
}

}  // namespace

void check_options(const CompileOptions& options) {
  if (options.threads < 0)
    throw UserError("compile: threads: expected 0 or more, got " +
                    std::to_string(options.threads));
  if (options.cpu_level && !host_supports(*options.cpu_level))
    throw UserError("compile: cpu_level: this machine lacks " +
                    std::string(cpu_level_name(*options.cpu_level)));
  const std::vector<std::string> known = optional_passes();
  for (const std::string& pass : options.disabled_passes)
    if (std::find(known.begin(), known.end(), pass) == known.end())
      throw UserError("compile: disabled_passes: unknown pass " + pass +
                      "; passes: " + pass_names());
}

std::shared_ptr<CompiledModule> compiled_module(const fx::GraphModule& module) {
  auto* native = dynamic_cast<CompiledModule*>(module.native_forward());
  return native ? native->shared_from_this() : nullptr;
}

void install_compiled(fx::GraphModule& module, nn::Ref<fx::GraphModule> copy,
                      const CompileOptions& options, passes::PassHooks hooks) {
  check_options(options);
  if (environment().interpreter_only) return;
  auto compiled = std::make_shared<CompiledModule>(std::move(copy), options,
                                                   std::move(hooks));
  static std::mutex exchange;  // Nobody takes a place without seeing who left.
  std::lock_guard lock(exchange);
  const auto before = compiled_module(module);
  module.set_native_forward(std::move(compiled));
  if (before) before->retire();
}

void compile(fx::GraphModule& module, const CompileOptions& options) {
  install_compiled(module, module.copy(), options, {});
}

bool prepare(fx::GraphModule& module, std::span<const Value> inputs) {
  if (environment().interpreter_only) return false;
  const auto shape = require(module, "prepare")->get(inputs);
  if (!shape) return false;  // Compiled anew meanwhile.
  const fx::Node* stop = shape->part().stop;
  return shape->native() || (stop && !stop->next()->is(fx::Opcode::output));
}

Value call_into(fx::GraphModule& module, const ValueList& args,
                std::span<const Tensor> outputs) {
  check_bound_outputs(outputs);
  const auto compiled = compiled_module(module);
  Value result;
  // A graph's own way of taking and giving values may arrange them anew.
  if (compiled && !module.graph().has_codegen() &&
      compiled->run_into(module.bind_inputs(args, {}), outputs, &result))
    return result;
  return copy_to_bound(module.invoke(args, {}), outputs);
}

std::string report(const fx::GraphModule& module) {
  return make_report(module).text();
}

Report make_report(const fx::GraphModule& module) {
  const auto compiled = compiled_module(module);
  return compiled ? compiled->report() : Report{};
}

CompiledSize compiled_size(const fx::GraphModule& module) {
  const auto compiled = compiled_module(module);
  return compiled ? compiled->program_size() : CompiledSize{};
}

Report measure_report(fx::GraphModule& module, std::span<const Value> inputs,
                      int calls) {
  return require(module, "measure_report")->measured_report(inputs, calls);
}

Profile profile(fx::GraphModule& module, std::span<const Value> inputs,
                int calls) {
  return require(module, "profile")->profile(inputs, calls);
}

Inspection inspect(fx::GraphModule& module, std::span<const Value> inputs,
                   const InspectionOptions& options) {
  return require(module, "inspect")->inspect(inputs, options);
}

std::vector<std::string> optional_passes() { return passes::optional_passes(); }

void fx::GraphModule::compile() { fxjit::compile(*this); }
void fx::GraphModule::compile(const CompileOptions& options) {
  fxjit::compile(*this, options);
}
bool fx::GraphModule::prepare(std::span<const Value> inputs) {
  return fxjit::prepare(*this, inputs);
}
std::string fx::GraphModule::report() const { return fxjit::report(*this); }

}  // namespace fxjit
