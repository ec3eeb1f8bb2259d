#include "src/bind/bind.h"

#include <utility>

#include "src/bind/externals.h"
#include "src/program/steps/step_plan.h"

namespace fxjit::bind {
namespace {

using program::Executable;
using program::ExternStep;
using program::Program;
using program::Step;
using program::StepPlan;
using program::TileStep;

// Steps that are not worth a second thread each.
bool is_short(const Executable::Parts& parts) {
  constexpr double kFlops = 1e6, kBytes = 256 << 10;
  for (const StepPlan& plan : parts.plans)
    if (plan.flops > kFlops || plan.bytes > kBytes) return false;
  return true;
}

class Binder {
 public:
  Binder(program::Plan plan, const Tools& tools, Cost& cost)
      : program_(std::move(plan.program)),
        constants_(std::move(plan.constants)),
        tools_(tools),
        cost_(cost),
        packer_(tools.weights, tools.pool, program_.machine.threads) {}

  Executable::Parts run() {
    bind_bodies();
    choose_formats();
    make_externals();
    jit::ProgramCode code = compile();
    weights::Store::Packed packed = packer_.get(weights_);
    cost_.pack_ms += packer_.milliseconds();
    Executable::Parts parts;
    parts.plans = plans();
    parts.kernels = std::move(code.kernels);
    for (size_t i = 0; i < externals_.size(); ++i)
      parts.kernels[i].external = std::move(externals_[i]);
    parts.packed = std::move(packed.addresses);
    parts.flushes_to_zero = packed.decayed;
    parts.max_threads = program_.machine.threads;
    parts.pool = &tools_.pool;
    parts.keep_alive = std::make_shared<
        std::pair<decltype(code.code), decltype(packed.blocks)>>(
        std::move(code.code), std::move(packed.blocks));
    parts.constants = std::move(constants_.tensors);
    parts.program = std::move(program_);
    return parts;
  }

 private:
  void bind_bodies() {
    for (size_t i = 0; i < program_.bodies.size(); ++i) {
      Executable::Parts made = bind(
          {program_.bodies[i], std::move(constants_.bodies[i])}, tools_, cost_);
      if (is_short(made)) made.max_threads = 1;
      bodies_.push_back(std::make_shared<Executable>(std::move(made)));
    }
  }

  // The formats of weights depend on their numbers, those of kernels on them.
  void choose_formats() {
    for (const weights::PackSpec& spec : program_.packed) {
      weights::Weight& weight =
          weights_.emplace_back(weights::weight_of(spec, constants_.tensors));
      if (!spec.formats.empty()) weight.coding = packer_.coding(weight);
    }
    for (Step& step : program_.steps)
      if (auto* const tile = std::get_if<TileStep>(&step.body))
        tile->weights = format_of(step.operands[1]);
  }

  weights::Format format_of(const program::OperandRef& ref) const {
    const program::Buffer& buffer =
        program_.buffers[static_cast<size_t>(ref.buffer)];
    if (buffer.home != program::Home::packed) return {};
    return weights_[static_cast<size_t>(buffer.index)].coding.format;
  }

  void make_externals() {
    Surroundings around{program_, constants_.tensors, bodies_, tools_.limits,
                        packer_};
    for (Step& step : program_.steps) {
      auto& external = externals_.emplace_back();
      if (!std::holds_alternative<ExternStep>(step.body)) continue;
      external = make_external(step, around);
      if (!external) step.body = tile_of(step);
    }
  }

  static TileStep tile_of(const Step& step) {
    return std::get<program::LibraryProduct>(
               std::get<ExternStep>(step.body).what)
        .tile;
  }

  jit::ProgramCode compile() {
    jit::ProgramCode code = jit::compile_program(
        program_, tools_.compiler, tools_.code, program_.machine.threads);
    cost_.code.emit_us += code.timings.emit_us;
    cost_.code.optimise_us += code.timings.optimise_us;
    cost_.code.codegen_us += code.timings.codegen_us;
    cost_.code.link_us += code.timings.link_us;
    cost_.code_bytes += code.fresh_bytes;
    cost_.from_disk = code.from_disk;
    return code;
  }

  std::vector<StepPlan> plans() const {
    std::vector<StepPlan> plans;
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      StepPlan& plan = plans.emplace_back(
          program::step_plan(program_.steps[i].body, program_.machine.level));
      if (!externals_[i]) continue;
      plan.tasks = externals_[i]->tasks();
      plan.scratch_bytes = externals_[i]->scratch_bytes();
    }
    return plans;
  }

  Program program_;
  program::Constants constants_;
  const Tools& tools_;
  Cost& cost_;
  weights::Packer packer_;
  std::vector<std::shared_ptr<const Executable>> bodies_;
  std::vector<weights::Weight> weights_;
  std::vector<std::shared_ptr<const program::ExternCode>> externals_;
};

}  // namespace

Executable::Parts bind(program::Plan plan, const Tools& tools, Cost& cost) {
  return Binder(std::move(plan), tools, cost).run();
}

}  // namespace fxjit::bind
