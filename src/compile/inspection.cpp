// CompiledModule::inspect: the programs of a call with times and code.
#include "fxjit/inspection.h"

#include <map>

#include "src/compile/compiled_module.h"
#include "src/compile/machine_limits.h"
#include "src/support/threads/own_stack.h"

namespace fxjit {
namespace {

// Why the interpreter runs the node, as the program before it found out.
std::string reason_for(const fx::Node& node, const CompiledShape* before) {
  return before && before->part().stop == &node ? before->part().why_stop : "";
}

class Collector {
 public:
  Collector(Inspection& inspection, Engine& engine, int threads, bool code)
      : inspection_(inspection),
        engine_(engine),
        threads_(threads),
        code_(code) {}

  void add(const StageTime& stage) {
    if (!stage.shape) return add_between(stage);
    before_ = stage.shape.get();
    if (!stage.shape->native()) return;
    ProgramInspection program = stage.shape->inspection();
    if (code_) add_code(*stage.shape, program);
    for (StepInspection& step : program.steps) add_profile(step);
    inspection_.programs.push_back(std::move(program));
  }

 private:
  void add_profile(StepInspection& step) {
    const std::vector<StepProfile>& rows = inspection_.profile.steps;
    while (!rows[next_].body.empty()) ++next_;  // Parts of the step before.
    step.profile = rows[next_++];
    step.report.microseconds = step.profile.microseconds;
  }

  void add_between(const StageTime& stage) {
    const fx::Node& node = *stage.node;
    StepInspection step;
    step.report = step_between(node, stage.native, reason_for(node, before_));
    step.skeleton = stage.native ? "between" : "interpreter";
    add_profile(step);
    if (inspection_.programs.empty()) {
      ProgramInspection& alone = inspection_.programs.emplace_back();
      alone.begin = std::string(node.name());
    }
    inspection_.programs.back().steps.push_back(std::move(step));
  }

  void add_code(const CompiledShape& shape, ProgramInspection& program) {
    jit::ProgramText text;
    support::run_with_compile_stack([&] {
      text = jit::program_text(shape.executable().program(),
                               shape.executable().driver(), engine_.compiler(),
                               threads_);
    });
    std::vector<int32_t> numbers;
    for (jit::ProgramText::Kernel& kernel : text.kernels) {
      const auto fresh = static_cast<int32_t>(inspection_.kernels.size());
      const auto [known, added] = kernels_.emplace(kernel.symbol, fresh);
      numbers.push_back(known->second);
      if (added)
        inspection_.kernels.push_back({std::move(kernel.symbol),
                                       std::move(kernel.text.ir),
                                       std::move(kernel.text.assembly)});
    }
    program.driver = {std::move(text.driver.symbol),
                      std::move(text.driver.text.ir),
                      std::move(text.driver.text.assembly)};
    for (size_t s = 0; s < program.steps.size(); ++s)
      for (const int32_t kernel : text.of_step[s])
        program.steps[s].kernels.push_back(
            numbers[static_cast<size_t>(kernel)]);
  }

  Inspection& inspection_;
  Engine& engine_;
  const int threads_;
  const bool code_;
  size_t next_ = 0;  // Row of the profile.
  const CompiledShape* before_ = nullptr;
  std::map<std::string, int32_t> kernels_;
};

}  // namespace

Inspection CompiledModule::inspect(std::span<const Value> inputs,
                                   const InspectionOptions& options) {
  Inspection inspection;
  std::vector<StageTime> stages;
  inspection.profile = profile(inputs, options.calls, &stages);
  inspection.threads = machine_.threads;
  const MachineLimits& limits = machine_limits(engine_);
  inspection.gflops = limits.gflops;
  for (size_t i = 0; i < limits.levels.size(); ++i)
    inspection.bandwidths[i] = {limits.levels[i].bytes,
                                limits.levels[i].gigabytes};
  Collector collector(inspection, engine_, machine_.threads, options.code);
  for (const StageTime& stage : stages) collector.add(stage);
  double sum = 0;
  for (const StepProfile& step : inspection.profile.steps)
    if (step.body.empty()) sum += step.microseconds;
  for (ProgramInspection& program : inspection.programs)
    for (StepInspection& step : program.steps)
      step.report.share = sum > 0 ? step.report.microseconds / sum : 0;
  inspection.kinds = report().kinds;
  return inspection;
}

}  // namespace fxjit
