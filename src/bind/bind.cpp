#include "src/bind/bind.h"

#include <unordered_map>
#include <utility>

#include "kernels/kernels.h"
#include "src/program/running/control_code.h"
#include "src/program/running/eager_code.h"
#include "src/program/running/pack_code.h"
#include "src/program/running/update_code.h"
#include "src/program/steps/steps.h"
#include "src/weights/packer.h"

namespace fxjit::bind {
namespace {

using program::Executable;
using program::ExternStep;
using program::IntegerStep;
using program::Program;
using program::Step;
using program::StepPlan;
using program::TileStep;
using Code = std::shared_ptr<const program::ExternCode>;

// Whether no step has enough work for a second thread.
bool is_short(const std::vector<StepPlan>& plans) {
  constexpr double kFlops = 1e6, kBytes = 256 << 10;
  for (const StepPlan& plan : plans)
    if (plan.flops > kFlops || plan.bytes > kBytes) return false;
  return true;
}

class Binder {
 public:
  Binder(program::Plan plan, const Tools& tools, Cost& cost, bool is_body)
      : is_body_(is_body),
        program_(std::move(plan.program)),
        constants_(std::move(plan.constants)),
        tools_(tools),
        cost_(cost),
        packer_(tools.weights, tools.pool, program_.machine.threads) {}

  Executable::Parts run() {
    bind_bodies();
    choose_formats();
    make_externals();
    make_plans();
    const int threads = is_body_ && is_short(plans_) ? 1 : this->threads();
    program::Schedule schedule =
        program::make_schedule(program_, plans_, externals_, threads);
    jit::ProgramCode code = compile(schedule.driver);
    weights::Store::Packed packed = packer_.get(weights_);
    cost_.pack_ms += packer_.milliseconds();
    Executable::Parts parts;
    parts.plans = std::move(plans_);
    parts.schedule = std::move(schedule);
    parts.driver = code.driver;
    parts.kernels = std::move(code.kernels);
    for (size_t i = 0; i < externals_.size(); ++i)
      parts.kernels[i].external = std::move(externals_[i]);
    parts.packed = std::move(packed.addresses);
    parts.flushes_to_zero = packed.decayed;
    parts.max_threads = threads;
    parts.pool = &tools_.pool;
    parts.keep_alive = std::make_shared<
        std::pair<decltype(code.code), decltype(packed.blocks)>>(
        std::move(code.code), std::move(packed.blocks));
    parts.constants = std::move(constants_.tensors);
    parts.program = std::move(program_);
    return parts;
  }

 private:
  CpuLevel level() const { return program_.machine.level; }
  int threads() const { return program_.machine.threads; }

  void bind_bodies() {
    for (size_t i = 0; i < program_.bodies.size(); ++i) {
      Binder body({program_.bodies[i], std::move(constants_.bodies[i])}, tools_,
                  cost_, /*is_body=*/true);
      bodies_.push_back(std::make_shared<Executable>(body.run()));
    }
  }

  // Chooses the format of each weight, which depends on its numbers. Kernels
  // are made afterwards, since their forms depend on the formats.
  void choose_formats() {
    for (const weights::PackSpec& spec : program_.packed)
      weights_.push_back(weights::weight_of(spec, constants_.tensors));
    packer_.choose_codings(weights_);
    for (Step& step : program_.steps)
      if (std::holds_alternative<TileStep>(*step.body))
        set_format<TileStep>(step);
      else if (std::holds_alternative<IntegerStep>(*step.body))
        set_format<IntegerStep>(step);
  }

  // Steps that share a body share it with another format as well.
  template <typename S>
  void set_format(Step& step) {
    const auto [format, blocks] = format_of(step.operands[1]);
    if (std::get<S>(*step.body).weights == format) return;
    for (const Formatted& known : formatted_)
      if (known.format == format && known.blocks == blocks &&
          known.from.get() == step.body.get()) {
        step.body = known.made;
        return;
      }
    const Body from = step.body;
    S& made = std::get<S>(step.body.change());
    made.weights = format;
    if constexpr (std::is_same_v<S, TileStep>) {
      made.blocks = blocks;
      made.analyse(program_.machine);  // How a step is cut depends on them.
    }
    formatted_.push_back({from, format, blocks, step.body});
  }

  std::pair<weights::Format, weights::Blocks> format_of(
      const program::OperandRef& ref) const {
    const program::Buffer& buffer =
        program_.buffers[static_cast<size_t>(ref.buffer)];
    if (buffer.home != program::Home::packed) return {};
    const weights::Coding& coding =
        weights_[static_cast<size_t>(buffer.index)].coding;
    return {coding.format, coding.blocks.blocks};
  }

  void make_externals() {
    for (Step& step : program_.steps) {
      Code& external = externals_.emplace_back();
      const auto* const body = std::get_if<ExternStep>(step.body.get());
      if (!body) continue;
      external = std::visit(
          [&](const auto& what) { return make_code(what, step); }, body->what);
      if (!external)
        step.body = program::StepBody(
            TileStep(std::get<program::LibraryProduct>(body->what).tile));
    }
  }

  // The code of a step that no skeleton computes.
  Code make_code(const program::CallSpec& call, const Step& step) {
    const kernels::CallRequest request{
        ops::get_op(call.op),
        call.args,
        constants_of(call, step),
        call.results,
        level(),
        &packer_,
        call.tail.empty() ? nullptr : &call.tail.front()};
    if (Code made = kernels::make_call_code(call.code, request, threads()))
      return made;
    return std::make_shared<program::EagerCode>(call);
  }
  // The primitive for a product, null if oneDNN has no fast code for it.
  Code make_code(const program::LibraryProduct& product, const Step&) const {
    return kernels::make_library_product(product.tile, level(), threads());
  }
  Code make_code(const program::RunTimePack& pack, const Step&) const {
    return std::make_shared<program::PackCode>(pack, level());
  }
  Code make_code(const program::UpdateSpec& update, const Step&) const {
    return std::make_shared<program::UpdateCode>(update);
  }
  Code make_code(const program::WriteBack& copy, const Step&) const {
    return std::make_shared<program::WriteBackCode>(copy);
  }
  Code make_code(const program::ControlCall& call, const Step&) const {
    std::vector<std::shared_ptr<const Executable>> programs;
    for (const program::ControlCall::Body& body : call.bodies)
      programs.push_back(bodies_[static_cast<size_t>(body.program)]);
    return program::make_control_code(call, std::move(programs), tools_.limits);
  }

  // Those tensors of the call that are constants as a whole, undefined for
  // views of constants and for others.
  std::vector<Tensor> constants_of(const program::CallSpec& call,
                                   const Step& step) const {
    std::vector<Tensor> constants;
    for (const Value& arg : call.args)
      visit_leaves(arg, [&](const Value& leaf) {
        if (!leaf.is_tensor()) return;
        const program::OperandRef& ref = step.operands[constants.size()];
        constants.push_back(constant_at(ref, leaf.as_tensor()));
      });
    return constants;
  }

  Tensor constant_at(const program::OperandRef& ref, const Tensor& meta) const {
    const program::Buffer& buffer =
        program_.buffers[static_cast<size_t>(ref.buffer)];
    if (buffer.home != program::Home::constant || ref.byte_offset != 0)
      return {};
    const Tensor& constant =
        constants_.tensors[static_cast<size_t>(buffer.index)];
    return spec_of(constant) == spec_of(meta) ? constant : Tensor();
  }

  jit::ProgramCode compile(const program::DriverForm& driver) {
    jit::ProgramCode code = jit::compile_program(
        program_, &driver, tools_.compiler, tools_.code, threads());
    cost_.code.emit_us += code.timings.emit_us;
    cost_.code.optimise_us += code.timings.optimise_us;
    cost_.code.codegen_us += code.timings.codegen_us;
    cost_.code.link_us += code.timings.link_us;
    cost_.code_bytes += code.fresh_bytes;
    cost_.from_disk = code.from_disk;
    return code;
  }

  void make_plans() {
    std::unordered_map<const program::StepBody*, StepPlan> known;
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      const auto [made, fresh] =
          known.try_emplace(program_.steps[i].body.get());
      if (fresh) made->second = program::step_plan(*made->first, level());
      StepPlan& plan = plans_.emplace_back(made->second);
      if (!externals_[i]) continue;
      plan.tasks = externals_[i]->tasks();
      plan.scratch_bytes = externals_[i]->scratch_bytes();
    }
  }

  using Body = support::SharedValue<program::StepBody>;
  // A body that got another format of its weights.
  struct Formatted {
    Body from;
    weights::Format format;
    weights::Blocks blocks;
    Body made;
  };

  const bool is_body_;  // Of a branch or loop of another program.
  Program program_;
  program::Constants constants_;
  const Tools& tools_;
  Cost& cost_;
  weights::Packer packer_;
  std::vector<std::shared_ptr<const Executable>> bodies_;
  std::vector<weights::Weight> weights_;
  std::vector<Formatted> formatted_;
  std::vector<Code> externals_;
  std::vector<StepPlan> plans_;
};

}  // namespace

Executable::Parts bind(program::Plan plan, const Tools& tools, Cost& cost) {
  return Binder(std::move(plan), tools, cost, /*is_body=*/false).run();
}

}  // namespace fxjit::bind
