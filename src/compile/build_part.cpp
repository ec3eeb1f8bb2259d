// CompiledModule::build: from a part of the graph to a program that runs.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <utility>

#include "fxjit/log.h"
#include "src/bind/bind.h"
#include "src/compile/compiled_module.h"
#include "src/compile/environment.h"
#include "src/program/text/text.h"
#include "src/support/disk/dump_file.h"

namespace fxjit {
namespace {

std::shared_ptr<const std::map<const Storage*, std::string>> names_of(
    const fx::GraphModule& module) {
  std::map<const Storage*, std::string> names;
  for (const auto& [name, parameter] : module.named_parameters())
    names.emplace(parameter.tensor().storage().get(), name);
  for (const auto& [name, buffer] : module.named_buffers())
    names.emplace(buffer.tensor().storage().get(), name);
  return std::make_shared<const std::map<const Storage*, std::string>>(
      std::move(names));
}

using ByNode = std::map<const fx::Node*, const Value*>;

// The inputs by their placeholders.
ByNode by_node(const fx::Graph& graph, std::span<const Value> inputs) {
  const std::vector<fx::NodePtr> placeholders = graph.placeholders();
  if (inputs.size() != placeholders.size())
    throw UserError("[compile] inputs: expected " +
                    std::to_string(placeholders.size()) + ", got " +
                    std::to_string(inputs.size()));
  ByNode found;
  for (size_t i = 0; i < inputs.size(); ++i)
    found[placeholders[i]] = &inputs[i];
  return found;
}

// The values that a part behind another reads, by their nodes.
ByNode by_node(const GraphParts::Nodes& nodes, std::span<const Value> values) {
  ByNode found;
  for (size_t i = 0; i < nodes.size(); ++i) found[nodes[i]] = &values[i];
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

// Whether a call of the part, whose graph is `model`, does anything.
bool computes(const passes::Part& part, const passes::ModelGraph& model) {
  return !part.stop || !part.outputs.empty() || !model.written.empty();
}

}  // namespace

CompiledShape::Parts CompiledModule::build(const Request& request) {
  const auto start = std::chrono::steady_clock::now();
  CompiledShape::Parts parts;
  // Where a part behind ends, and so what it reads, numbers tell.
  std::optional<passes::Part> part;
  if (request.begin && !request.source->parts.read_by(request.begin))
    part = take(request);
  const std::optional<SizedInputs> inputs = sized(request);
  std::string why_not;
  if (!inputs || !build_of_kind(request, *inputs, parts, why_not)) {
    build_of_numbers(request, std::move(part), parts);
    // If numbers fail as well, names are not to blame.
    if (!why_not.empty()) kinds_.note_failure(*inputs, why_not);
  }
  const std::chrono::duration<double, std::milli> took =
      std::chrono::steady_clock::now() - start;
  parts.timings.passes_ms += took.count();
  return parts;
}

passes::Part CompiledModule::take(const Request& request) {
  ByNode inputs;
  if (!request.begin)
    inputs = by_node(request.source->module->graph(), request.inputs);
  const GraphParts::Known known =
      request.begin ? request.known
                    : [&inputs](const fx::Node& node) -> const Value& {
    return *inputs.at(&node);
  };
  return request.source->parts.take(request.begin, known, [this] {
    shapes_.clear();
    kinds_.clear();
  });
}

void CompiledModule::build_of_numbers(const Request& request,
                                      std::optional<passes::Part> taken,
                                      CompiledShape::Parts& parts) {
  passes::Part part = taken ? *std::move(taken) : take(request);
  if (computes(part, part.model)) {
    const program::PlanOptions options = plan_options(*request.source->module);
    part.model.folded = folded_;
    build_program(passes::run_pipeline(std::move(part.model), options.pipeline),
                  options, parts);
  }
  describe(request, std::move(part), parts);
}

// The inputs, or what a part behind another reads.
std::optional<SizedInputs> CompiledModule::sized(const Request& request) const {
  if (!request.begin)
    return sizes_of(request.inputs, declared_.of(request.inputs));
  const ValueList key = *key_of(request);
  auto inputs = sizes_of(std::span(key).subspan(1), {});
  if (!inputs) return inputs;
  inputs->structure =
      std::string(request.begin->name()) + ": " + inputs->structure;
  const GraphParts& parts = request.source->parts;
  for (const fx::Node* node : *parts.read_by(request.begin))
    append_of_data(request.known(*node), parts.is_of_data(*node),
                   inputs->of_data);
  return inputs;
}

bool CompiledModule::build_of_kind(const Request& request,
                                   const SizedInputs& inputs,
                                   CompiledShape::Parts& parts,
                                   std::string& why_not) {
  SizeKinds::Found found = kinds_.find(inputs);
  if (!found.kind) found = trace_kind(request, inputs, why_not);
  if (!found.kind) return false;
  parts.of_kind = true;
  if (computes(found.kind->part, *found.model))
    build_program(*found.model, plan_options(*request.source->module), parts);
  found.kind->graph->release_constants();
  passes::Part part;
  part.inputs = found.kind->part.inputs;
  part.outputs = found.kind->part.outputs;
  part.stop = found.kind->part.stop;
  part.why = found.kind->part.why;
  describe(request, std::move(part), parts);
  return true;
}

// What names cannot stand for is left to numbers.
SizeKinds::Found CompiledModule::trace_kind(const Request& request,
                                            const SizedInputs& inputs,
                                            std::string& why_not) {
  std::optional<SizeNaming> naming = kinds_.note(inputs);
  if (!naming) {
    const std::string why = kinds_.why_no_more(inputs);
    if (!why.empty()) log(LogLevel::warning, "[compile] " + why);
    return {};
  }
  try {
    std::optional<SizeKinds::Kind> kind = traced(request, inputs, *naming);
    if (!kind && !request.source->parts.knows(request.begin)) {
      take(request);  // Finds where the part ends.
      naming = kinds_.note(inputs);
      kind = traced(request, inputs, *naming);
    }
    if (!kind) throw NotImplementedError("the graph ends at another node");
    kinds_.add(inputs, *std::move(kind));
  } catch (const Error& error) {
    why_not = error.message();
    log(LogLevel::info, "[compile] sizes stay numbers: " + why_not);
    return {};
  }
  const SizeKinds::Found found = kinds_.find(inputs);
  FXJIT_CHECK(found.kind, "a kind serves the inputs that it was made for");
  if (log_level() <= LogLevel::info)
    for (const SizeGuard& guard : found.kind->graph->table().guards())
      log(LogLevel::info, "[compile] assumes " + guard.text +
                              (guard.asker.empty() ? "" : ": " + guard.asker));
  return found;
}

std::optional<SizeKinds::Kind> CompiledModule::traced(const Request& request,
                                                      const SizedInputs& inputs,
                                                      SizeNaming naming) {
  auto table = std::make_unique<SizeTable>();
  const SizeTable::Scope scope(*table);
  GraphParts& parts = request.source->parts;
  const ValueList key = *key_of(request);
  const ValueList values =
      named_inputs(std::span(key).subspan(request.begin ? 1 : 0), naming,
                   inputs.sizes, *table);
  const ByNode named = request.begin
                           ? by_node(*parts.read_by(request.begin), values)
                           : by_node(request.source->module->graph(), values);
  std::optional<passes::Part> part = parts.take_named(
      request.begin,
      [&](const fx::Node& node) -> const Value& { return *named.at(&node); });
  if (!part) return std::nullopt;
  part->model.folded = folded_;
  passes::ModelGraph model =
      passes::run_pipeline(std::move(part->model), pipeline_options());
  std::string text = inputs_text(values);
  return SizeKinds::Kind{
      std::move(naming), inputs.sizes,
      std::make_unique<passes::NamedGraph>(std::move(model), std::move(table)),
      std::move(*part), std::move(text)};
}

size_t CompiledModule::kinds() {
  std::lock_guard lock(compile_mutex_);
  return kinds_.count();
}

void CompiledModule::describe(const Request& request, passes::Part part,
                              CompiledShape::Parts& parts) {
  if (part.stop) {
    parts.op_stop = !part.stop->target().function() &&
                    passes::is_data_dependent(*part.stop, part.why);
    parts.stop_bodies =
        compile_bodies(*request.source->module, *part.stop, options_, hooks_);
  }
  if (part.stop && !parts.op_stop && parts.stop_bodies.empty()) {
    try {
      std::rethrow_exception(part.why);
    } catch (const Error& error) {
      parts.why_stop = error.message();
      note_reason(error.what());
    }
  }
  parts.begin = request.begin;
  parts.stop = part.stop;
  parts.dead = request.source->parts.dead_after(request.begin, part.stop);
  parts.reads_attributes = std::any_of(
      part.inputs.begin(), part.inputs.end(),
      [](const fx::Node* node) { return node->is(fx::Opcode::get_attr); });
  parts.inputs = std::move(part.inputs);
  parts.outputs = std::move(part.outputs);
}

void CompiledModule::build_program(const passes::ModelGraph& model,
                                   const program::PlanOptions& options,
                                   CompiledShape::Parts& parts) {
  program::Plan plan = program::plan(model, options);
  if (const std::string& folder = dump_folder(options_); !folder.empty())
    dump(folder, "program.json", text_to_dump(plan.program));
  const auto start = std::chrono::steady_clock::now();
  bind::Cost cost;
  parts.executable = std::make_unique<program::Executable>(
      bind::bind(std::move(plan),
                 {engine_.compiler(), engine_.code(), weights_,
                  support::ThreadPool::shared(), loop_limits_},
                 cost));
  const std::chrono::duration<double, std::milli> took =
      std::chrono::steady_clock::now() - start;
  parts.timings.passes_ms = -took.count();  // build() adds all of it.
  parts.timings.pack_ms = cost.pack_ms;
  parts.timings.emit_ms = cost.code.emit_us / 1e3;
  parts.timings.optimise_ms = cost.code.optimise_us / 1e3;
  parts.timings.codegen_ms = cost.code.codegen_us / 1e3;
  parts.timings.link_ms = cost.code.link_us / 1e3;
  parts.timings.from_disk_cache = cost.from_disk;
  parts.code_bytes = cost.code_bytes;
}

program::PlanOptions CompiledModule::plan_options(
    const fx::GraphModule& named) {
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
  if (!tensor_names_) tensor_names_ = names_of(named);
  options.names = tensor_names_;
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
