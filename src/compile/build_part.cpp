// CompiledModule::build: from a part of the graph to a program that runs.
#include <algorithm>
#include <chrono>
#include <utility>

#include "kernels/kernels.h"
#include "src/compile/compiled_module.h"
#include "src/compile/dump.h"
#include "src/compile/environment.h"
#include "src/passes/control_flow.h"
#include "src/program/kernel_plan.h"
#include "src/program/planner.h"
#include "src/support/cache_sizes.h"

namespace fxjit {
namespace {

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

}  // namespace

CompiledShape::Parts CompiledModule::build(const Request& request) {
  std::map<const fx::Node*, const Value*> inputs;
  if (!request.begin) {
    size_t next = 0;
    for (const fx::Node* node : request.source->module->graph().placeholders())
      inputs[node] = &request.inputs[next++];
  }
  const GraphParts::Known known =
      request.begin ? request.known
                    : [&inputs](const fx::Node& node) -> const Value& {
    return *inputs.at(&node);
  };
  GraphParts& graph = request.source->parts;
  passes::Part part =
      graph.take(request.begin, known, [this] { shapes_.clear(); });
  CompiledShape::Parts parts;
  if (part.stop) {
    try {
      std::rethrow_exception(part.why);
    } catch (const Error& error) {
      parts.why_stop = error.message();
      note_reason(error.what());
    }
  }
  if (!part.stop || !part.outputs.empty() || !part.model.written.empty())
    build_program(std::move(part.model), parts);
  parts.begin = request.begin;
  parts.stop = part.stop;
  parts.dead = graph.dead_after(request.begin, part.stop);
  parts.reads_attributes = std::any_of(
      part.inputs.begin(), part.inputs.end(),
      [](const fx::Node* node) { return node->is(fx::Opcode::get_attr); });
  parts.inputs = std::move(part.inputs);
  parts.outputs = std::move(part.outputs);
  return parts;
}

void CompiledModule::build_program(passes::ModelGraph normalized,
                                   CompiledShape::Parts& parts) {
  parts.executable = std::make_unique<program::Executable>(
      make_program(std::move(normalized), parts));
}

program::Executable::Parts CompiledModule::make_program(
    passes::ModelGraph normalized, CompiledShape::Parts& parts) {
  Stopwatch watch;
  normalized.folded = folded_;
  const passes::ModelGraph model =
      passes::run_pipeline(std::move(normalized), pipeline_options());
  program::PlanOptions plan_options;
  plan_options.level = engine_.level();
  plan_options.strict_sums = options_.strict_sums;
  plan_options.cache_bytes = static_cast<int64_t>(support::cache_sizes()[1]);
  if (options_.contraction == CompileOptions::Contraction::onednn)
    plan_options.products = [this](const program::TileStep& step) {
      return kernels::make_matmul_kernel(step, engine_.level(), threads_);
    };
  using Narrow = CompileOptions::NarrowWeights;
  if (options_.narrow_weights != Narrow::never && !options_.strict_sums)
    plan_options.codings = [this](const program::PackedWeight& weight,
                                  int64_t rows) {
      return weights_.coding(weight, rows,
                             options_.narrow_weights == Narrow::rounded);
    };
  plan_options.kernels = [&](const program::KernelRequest& request) {
    return &request.op == &passes::control_op()
               ? make_control(request, parts)
               : kernels::make_kernel(request, threads_);
  };
  program::Program program = program::plan(model, plan_options);
  parts.timings.passes_ms += watch.lap_ms();
  jit::ProgramCode code = engine_.compile(program, threads_);
  watch.lap_ms();
  program::Executable::Parts run;
  WeightStore::Packed packed =
      weights_.get(program.packed, support::ThreadPool::shared(), threads_);
  run.packed = std::move(packed.addresses);
  parts.timings.pack_ms += watch.lap_ms();
  for (const program::Step& step : program.steps)
    run.plans.push_back(program::kernel_plan(step.body, engine_.level()));
  run.kernels = std::move(code.kernels);
  run.max_threads = threads_;
  run.pool = &support::ThreadPool::shared();
  const jit::CompileTimings& timings = code.timings;
  parts.timings.emit_ms += timings.emit_us / 1e3;
  parts.timings.optimise_ms += timings.optimise_us / 1e3;
  parts.timings.codegen_ms += timings.codegen_us / 1e3;
  parts.timings.link_ms += timings.link_us / 1e3;
  parts.timings.from_disk_cache = code.from_disk;
  parts.code_bytes += code.fresh_bytes;
  run.keep_alive =
      std::make_shared<std::pair<decltype(code.code), decltype(packed.blocks)>>(
          std::move(code.code), std::move(packed.blocks));
  run.program = std::move(program);
  return run;
}

passes::PipelineOptions CompiledModule::pipeline_options() const {
  passes::PipelineOptions options;
  options.disabled = options_.disabled_passes;
  options.has_kernel = kernels::has_kernel;
  options.direct_convolutions =
      options_.strict_sums ||
      options_.convolution == CompileOptions::Convolution::direct;
  const Environment& env = environment();
  options.disabled.insert(options.disabled.end(), env.disabled.begin(),
                          env.disabled.end());
  options.observer = graph_dumper(
      options_.dump_folder.empty() ? env.dump_folder : options_.dump_folder);
  return options;
}

}  // namespace fxjit
