// CompiledModule::build: from a part of the graph to a program that runs.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <utility>

#include "src/bind/bind.h"
#include "src/compile/compiled_module.h"
#include "src/compile/environment.h"
#include "src/program/text/text.h"
#include "src/support/disk/dump_file.h"

namespace fxjit {
namespace {

std::map<const Storage*, std::string> names_of(const fx::GraphModule& module) {
  std::map<const Storage*, std::string> names;
  for (const auto& [name, parameter] : module.named_parameters())
    names.emplace(parameter.tensor().storage().get(), name);
  for (const auto& [name, buffer] : module.named_buffers())
    names.emplace(buffer.tensor().storage().get(), name);
  return names;
}

// The inputs by their placeholders.
std::map<const fx::Node*, const Value*> by_node(const fx::Graph& graph,
                                                std::span<const Value> inputs) {
  const std::vector<fx::NodePtr> placeholders = graph.placeholders();
  if (inputs.size() != placeholders.size())
    throw UserError("[compile] inputs: expected " +
                    std::to_string(placeholders.size()) + ", got " +
                    std::to_string(inputs.size()));
  std::map<const fx::Node*, const Value*> found;
  for (size_t i = 0; i < inputs.size(); ++i)
    found[placeholders[i]] = &inputs[i];
  return found;
}

// Writes <folder>/<number>_<name>. Numbers are per process, so that dumps of
// several compilations sort by time.
void dump(const std::string& folder, const std::string& name,
          std::string_view text) {
  static std::atomic<int> next_number{0};
  char number[8];
  std::snprintf(number, sizeof number, "%03d", next_number++ % 1000);
  support::write_dump(folder, std::string(number) + "_" + name, text);
}

// Programs that hold objects of the user's have no text: then it says so.
std::string text_to_dump(const program::Program& program) {
  try {
    return program::write_text(program);
  } catch (const NotImplementedError& error) {
    return error.what() + std::string("\n");
  }
}

}  // namespace

CompiledShape::Parts CompiledModule::build(const Request& request) {
  std::map<const fx::Node*, const Value*> inputs;
  if (!request.begin)
    inputs = by_node(request.source->module->graph(), request.inputs);
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
    build_program(std::move(part.model), *request.source->module, parts);
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
                                   const fx::GraphModule& named,
                                   CompiledShape::Parts& parts) {
  const auto start = std::chrono::steady_clock::now();
  normalized.folded = folded_;
  const program::PlanOptions options = plan_options(named);
  program::Plan plan = program::plan(
      passes::run_pipeline(std::move(normalized), options.pipeline), options);
  if (const std::string& folder = dump_folder(options_); !folder.empty())
    dump(folder, "program.json", text_to_dump(plan.program));
  const std::chrono::duration<double, std::milli> took =
      std::chrono::steady_clock::now() - start;
  bind::Cost cost;
  parts.executable = std::make_unique<program::Executable>(
      bind::bind(std::move(plan),
                 {engine_.compiler(), engine_.code(), weights_,
                  support::ThreadPool::shared(), loop_limits_},
                 cost));
  parts.timings.passes_ms = took.count();
  parts.timings.pack_ms = cost.pack_ms;
  parts.timings.emit_ms = cost.code.emit_us / 1e3;
  parts.timings.optimise_ms = cost.code.optimise_us / 1e3;
  parts.timings.codegen_ms = cost.code.codegen_us / 1e3;
  parts.timings.link_ms = cost.code.link_us / 1e3;
  parts.timings.from_disk_cache = cost.from_disk;
  parts.code_bytes = cost.code_bytes;
}

program::PlanOptions CompiledModule::plan_options(
    const fx::GraphModule& named) const {
  using Narrow = CompileOptions::NarrowWeights;
  program::PlanOptions options;
  options.machine = machine_;
  options.strict_sums = options_.strict_sums;
  options.library_products =
      options_.contraction == CompileOptions::Contraction::onednn;
  if (options_.narrow_weights != Narrow::never && !options_.strict_sums)
    options.narrow = options_.narrow_weights == Narrow::rounded
                         ? program::PlanOptions::Narrow::rounded
                         : program::PlanOptions::Narrow::exact;
  options.pipeline = pipeline_options();
  options.folded = folded_;
  options.names = names_of(named);
  return options;
}

passes::PipelineOptions CompiledModule::pipeline_options() const {
  passes::PipelineOptions options = program::passes_for(machine_);
  options.disabled = options_.disabled_passes;
  options.strict_sums = options_.strict_sums;
  // Strict sums of a sequence are the same alone and beside others.
  if (options_.strict_sums) options.recurrent.reset();
  options.direct_convolutions =
      options_.strict_sums ||
      options_.convolution == CompileOptions::Convolution::direct;
  const Environment& env = environment();
  options.disabled.insert(options.disabled.end(), env.disabled.begin(),
                          env.disabled.end());
  options.hooks = hooks_;
  if (const std::string& folder = dump_folder(options_); !folder.empty())
    options.hooks.observer = [folder, observer = hooks_.observer](
                                 std::string_view pass,
                                 const passes::ModelGraph& model) {
      dump(folder, std::string(pass) + ".txt", model.str() + "\n");
      if (observer) observer(pass, model);
    };
  return options;
}

}  // namespace fxjit
