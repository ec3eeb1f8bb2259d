#include "src/compile/compiled_module.h"

#include <algorithm>
#include <chrono>

#include "fxjit/log.h"
#include "kernels/kernels.h"
#include "src/compile/background.h"
#include "src/compile/dump.h"
#include "src/compile/environment.h"
#include "src/compile/machine_limits.h"
#include "src/program/kernel_plan.h"
#include "src/program/planner.h"
#include "src/support/cpu_quota.h"

namespace fxjit {
namespace {

// Free output blocks that a module keeps for its next calls.
constexpr size_t kOutputBytes = size_t{64} << 20;

class Stopwatch {
 public:
  double lap_ms() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double, std::milli> lap = now - last_;
    last_ = now;
    return lap.count();
  }

 private:
  std::chrono::steady_clock::time_point last_ =
      std::chrono::steady_clock::now();
};

ValueList signature_of(std::span<const Value> inputs) {
  ValueList metas;
  for (const Value& input : inputs)
    metas.push_back(map_leaves(input, [](const Value& leaf) -> Value {
      if (!leaf.is_tensor()) return leaf;
      const Tensor& t = leaf.as_tensor();
      return Tensor::meta(t.sizes(), t.dtype(), t.strides());
    }));
  return metas;
}

bool have_data(std::span<const Value> inputs) {
  bool all = true;
  for (const Value& input : inputs)
    visit_leaves(input, [&](const Value& leaf) {
      all = all && !(leaf.is_tensor() && leaf.as_tensor().is_meta());
    });
  return all;
}

int thread_count(const CompileOptions& options) {
  return options.threads > 0 ? options.threads : support::available_cpus();
}

}  // namespace

CompiledModule::CompiledModule(nn::Ref<fx::GraphModule> module,
                               CompileOptions options)
    : module_(std::move(module)),
      options_(std::move(options)),
      threads_(thread_count(options_)),
      engine_(Engine::shared(options_)),
      weights_(engine_.level()),
      blocks_(kOutputBytes),
      shapes_(options_.memory_cap) {}

bool CompiledModule::run(std::span<const Value> inputs, Value* result) {
  if (!have_data(inputs)) return false;  // The interpreter infers shapes.
  std::shared_ptr<const CompiledShape> shape = shapes_.find(inputs);
  if (!shape) {
    if (options_.new_shape == CompileOptions::NewShape::behind) {
      compile_behind(inputs);
      return false;
    }
    shape = get(inputs);
  }
  if (!shape->native()) return false;
  try {
    *result = shape->run(inputs, blocks_);
  } catch (const IndexError&) {
    return false;  // The interpreter finds it again, with node and line.
  }
  return true;
}

std::shared_ptr<const CompiledShape> CompiledModule::get(
    std::span<const Value> inputs) {
  if (auto shape = shapes_.find(inputs)) return shape;
  std::lock_guard lock(compile_mutex_);
  if (auto shape = shapes_.find(inputs)) return shape;
  return make(inputs);
}

// What cannot be compiled is remembered as such, so that it is tried once; the
// same reason is reported once, for whatever shapes. Errors of the user's making are left to the interpreter, which
// finds them again with the values at hand.
std::shared_ptr<const CompiledShape> CompiledModule::make(
    std::span<const Value> inputs) {
  CompiledShape::Parts parts;
  try {
    parts = build(inputs);
  } catch (const Error& error) {
    parts = {};
    parts.why_not = error.message();
    if (reported_.insert(error.what()).second)
      log(LogLevel::warning,
          "a call stays with the interpreter: " + std::string(error.what()));
  }
  parts.signature = signature_of(inputs);
  auto shape = std::make_shared<const CompiledShape>(std::move(parts));
  shapes_.add(hash_inputs(inputs), shape);
  return shape;
}

CompiledShape::Parts CompiledModule::build(std::span<const Value> inputs) {
  Stopwatch watch;
  CompiledShape::Parts parts;
  const passes::ModelGraph model =
      passes::run_pipeline(*module_, inputs, pipeline_options());
  program::PlanOptions plan_options;
  plan_options.level = engine_.level();
  plan_options.strict_sums = options_.strict_sums;
  if (options_.contraction == CompileOptions::Contraction::onednn)
    plan_options.products = [this](const program::TileStep& step) {
      return kernels::make_matmul_kernel(step, engine_.level(), threads_);
    };
  plan_options.kernels = [this](const program::KernelRequest& request) {
    return kernels::make_kernel(request, threads_);
  };
  program::Program program = program::plan(model, plan_options);
  parts.timings.passes_ms = watch.lap_ms();
  jit::ProgramCode code = engine_.compile(program, threads_);
  watch.lap_ms();
  program::Executable::Parts run;
  WeightStore::Packed packed = weights_.get(
      program.packed, support::ThreadPool::shared(), threads_);
  run.packed = std::move(packed.addresses);
  parts.timings.pack_ms = watch.lap_ms();
  for (const program::Step& step : program.steps)
    run.plans.push_back(program::kernel_plan(step.body, engine_.level()));
  run.kernels = std::move(code.kernels);
  run.max_threads = threads_;
  run.pool = &support::ThreadPool::shared();
  if (code.code) {
    const jit::CompileTimings& t = code.code->timings();
    parts.timings.emit_ms = t.emit_us / 1e3;
    parts.timings.optimise_ms = t.optimise_us / 1e3;
    parts.timings.codegen_ms = t.codegen_us / 1e3;
    parts.timings.link_ms = t.link_us / 1e3;
    parts.timings.from_disk_cache =
        code.code->origin() == jit::CodeOrigin::disk;
    parts.code_bytes = code.code->code_bytes();
  }
  run.keep_alive = std::make_shared<
      std::pair<decltype(code.code), decltype(packed.blocks)>>(
      code.code, std::move(packed.blocks));
  run.program = std::move(program);
  parts.executable =
      std::make_unique<program::Executable>(std::move(run));
  return parts;
}

passes::PipelineOptions CompiledModule::pipeline_options() const {
  passes::PipelineOptions options;
  options.disabled = options_.disabled_passes;
  options.has_kernel = kernels::has_kernel;
  const Environment& env = environment();
  options.disabled.insert(options.disabled.end(), env.disabled.begin(),
                          env.disabled.end());
  options.observer = graph_dumper(
      options_.dump_folder.empty() ? env.dump_folder : options_.dump_folder);
  return options;
}

void CompiledModule::compile_behind(std::span<const Value> inputs) {
  const size_t hash = hash_inputs(inputs);
  {
    std::lock_guard lock(pending_mutex_);
    if (!pending_.insert(hash).second) return;
  }
  BackgroundCompiler::shared().submit(
      [weak = weak_from_this(), signature = signature_of(inputs), hash] {
        const std::shared_ptr<CompiledModule> self = weak.lock();
        if (!self) return;
        self->get(signature);
        std::lock_guard lock(self->pending_mutex_);
        self->pending_.erase(hash);
      });
}

std::string CompiledModule::report() const {
  std::string text;
  for (const auto& shape : shapes_.all()) text += shape->report();
  return text;
}

Profile CompiledModule::profile(std::span<const Value> inputs, int calls) {
  const std::shared_ptr<const CompiledShape> shape = get(inputs);
  if (!shape->native())
    throw UserError("profile: these inputs have no compiled program: " +
                    shape->why_not());
  const program::Executable& executable = shape->executable();
  const program::Program& program = executable.program();
  Profile result = shape->timings();
  result.arena_bytes = static_cast<size_t>(program.arena_bytes);
  result.packed_bytes = weights_.bytes();
  std::vector<double> whole;
  Stopwatch watch;
  for (int i = 0; i < calls; ++i) {
    watch.lap_ms();
    shape->run(inputs, blocks_);
    whole.push_back(watch.lap_ms() * 1e3);
  }
  std::nth_element(whole.begin(), whole.begin() + calls / 2, whole.end());
  result.call_microseconds = whole.empty() ? 0 : whole[whole.size() / 2];
  const MachineLimits& limits = machine_limits(engine_);
  program::StepTimes times;
  times.nanoseconds.resize(program.steps.size());
  for (int i = 0; i < calls; ++i) shape->run(inputs, blocks_, &times);
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const program::Step& step = program.steps[i];
    const auto* external = std::get_if<program::ExternStep>(&step.body);
    StepProfile row;
    row.label = step.label;
    row.nodes = step.nodes;
    row.native = !external || external->kernel->native();
    const double ns = times.nanoseconds[i] / std::max(1, calls);
    row.microseconds = ns / 1e3;
    if (ns > 0) {
      row.gflops = executable.plans()[i].flops / ns;
      row.gigabytes = executable.plans()[i].bytes / ns;
      row.of_limit =
          limits.nanoseconds(executable.plans()[i], threads_) / ns;
    }
    result.steps.push_back(std::move(row));
  }
  return result;
}

}  // namespace fxjit
