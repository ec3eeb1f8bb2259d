#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "fxjit/compile.h"
#include "fxjit/error.h"
#include "fxjit/fx/passes/graph_drawer.h"
#include "fxjit/inspection.h"
#include "fxjit/report.h"
#include "tools/fxjit/commands.h"
#include "tools/fxjit/sizes.h"
#include "tools/fxjit/terminal.h"

namespace fxjit::command {
namespace {

using nlohmann::json;

struct WeightFacts {
  std::string name;
  const Tensor* tensor;
};

template <typename Named>
void append_weights(const Named& named, std::vector<WeightFacts>& weights) {
  for (const auto& [name, handle] : named)
    weights.push_back({name, &handle.tensor()});
}

std::vector<WeightFacts> weights_of(const fx::GraphModule& module) {
  std::vector<WeightFacts> weights;
  append_weights(module.named_parameters(), weights);
  append_weights(module.named_buffers(), weights);
  return weights;
}

size_t bytes_of(const std::vector<WeightFacts>& weights) {
  size_t bytes = 0;
  for (const WeightFacts& weight : weights)
    bytes += static_cast<size_t>(weight.tensor->numel()) *
             weight.tensor->item_size();
  return bytes;
}

std::map<std::string, int> ops_of(const fx::GraphModule& module) {
  std::map<std::string, int> ops;
  for (const fx::Node* node : module.graph().nodes())
    if (node->is(fx::Opcode::call_function) ||
        node->is(fx::Opcode::call_method) || node->is(fx::Opcode::call_module))
      ++ops[node->target().pretty()];
  return ops;
}

std::vector<std::string> outputs_of(const Model& model) {
  std::vector<std::string> outputs;
  if (model.program())
    for (const imported::Output& output : model.program()->outputs)
      outputs.push_back(output.name +
                        (output.path.empty() ? "" : "  " + output.path));
  return outputs;
}

void print_list(const char* title, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  std::printf("%s\n", Colours(stdout).bold(title).c_str());
  for (const std::string& line : lines) std::printf("  %s\n", line.c_str());
}

// What the file says of itself: producer, opsets, ...
std::vector<std::string> facts_of(const Model& model) {
  std::vector<std::string> facts;
  if (model.program())
    for (const auto& [name, text] : model.program()->facts)
      facts.push_back(name + ": " + text);
  return facts;
}

json file_facts(const Model& model) {
  json facts = json::array();
  if (model.program())
    for (const auto& [name, text] : model.program()->facts)
      facts.push_back({{"name", name}, {"text", text}});
  return facts;
}

void print_text(const Model& model) {
  std::vector<std::string> inputs, ops;
  for (const ModelInput& input : model.inputs()) inputs.push_back(input.text);
  for (const auto& [name, count] : ops_of(model.module()))
    ops.push_back(std::to_string(count) + " x " + name);
  std::printf("%s (%s)\n", model.path().c_str(), model.format());
  print_list("file", facts_of(model));
  print_list("inputs", inputs);
  print_list("outputs", outputs_of(model));
  const auto weights = weights_of(model.module());
  std::printf("weights\n  %zu tensors, %.2f MB\n", weights.size(),
              static_cast<double>(bytes_of(weights)) / 1e6);
  print_list("ops", ops);
}

json weight_list(const Model& model) {
  json list = json::array();
  for (const WeightFacts& weight : weights_of(model.module())) {
    const Dims& sizes = weight.tensor->sizes();
    list.push_back(
        {{"name", weight.name},
         {"dtype", dtype_name(weight.tensor->dtype())},
         {"sizes", std::vector<int64_t>(sizes.begin(), sizes.end())}});
  }
  return list;
}

json input_list(const Model& model) {
  json list = json::array();
  for (const ModelInput& input : model.inputs()) {
    json entry = {{"name", input.name}};
    if (input.known) {
      entry["path"] = input.facts.path;
      if (input.facts.kind == imported::Input::Kind::tensor) {
        entry["dtype"] = dtype_name(input.facts.dtype);
        entry["sizes"] = json::array();
        for (const imported::Size& size : input.facts.sizes)
          entry["sizes"].push_back(size.fixed ? json(*size.fixed)
                                              : json(size.text));
      } else if (input.facts.kind == imported::Input::Kind::constant) {
        entry["constant"] = repr(input.facts.constant);
      }
    }
    list.push_back(std::move(entry));
  }
  return list;
}

void print_json(const Model& model, const std::optional<Report>& report) {
  json outputs = json::array();
  if (model.program())
    for (const imported::Output& output : model.program()->outputs)
      outputs.push_back({{"name", output.name}, {"path", output.path}});
  json facts = {{"model", model.path()},        {"format", model.format()},
                {"file", file_facts(model)},    {"inputs", input_list(model)},
                {"outputs", outputs},           {"weights", weight_list(model)},
                {"ops", ops_of(model.module())}};
  if (report) facts["report"] = json::parse(report->json());
  std::printf(
      "%s\n",
      facts.dump(2, ' ', false, json::error_handler_t::replace).c_str());
}

// The inputs of the call that it was compiled for.
ValueList compile_for_a_call(const Model& model,
                             const InspectOptions& options) {
  ValueList inputs = make_inputs(model, options.inputs);
  declare_sizes(model, options.inputs.sizes);
  CompileOptions compiling;
  compiling.threads = options.threads;
  compiling.disabled_passes = options.disabled;
  compile(model.module(), compiling);
  prepare(model.module(), inputs);
  return inputs;
}

Report compiled(const Model& model, const InspectOptions& options) {
  compile_for_a_call(model, options);
  return make_report(model.module());
}

// What a call runs, outermost first.
void print_ir(const Model& model, const InspectOptions& options) {
  const ValueList inputs = compile_for_a_call(model, options);
  const Inspection seen = inspect(model.module(), inputs, {.calls = 1});
  for (const ProgramInspection& program : seen.programs)
    std::printf("%s\n", program.driver.ir.c_str());
  for (const KernelInspection& kernel : seen.kernels)
    std::printf("%s\n", kernel.ir.c_str());
}

}  // namespace

void inspect(const InspectOptions& options) {
  if (!options.compare.empty() && options.html.empty() && options.trace.empty())
    throw UserError("[inspect] --compare needs --html or --trace");
  if (options.writes_files()) return write_inspection(options);
  Progress progress;
  progress.say("loading " + options.model);
  const Model model(options.model, options.weights);
  std::optional<Report> report;
  progress.say("compiling");
  if (options.ir) {
    progress.clear();
    return print_ir(model, options);
  }
  if (options.compile) report = compiled(model, options);
  progress.clear();
  if (options.dot) {
    std::printf("%s\n", fx::passes::FxGraphDrawer(model.module(), "model")
                            .get_dot_graph()
                            .c_str());
    return;
  }
  if (options.json) {
    print_json(model, report);
    return;
  }
  print_text(model);
  if (options.graph)
    std::printf("\n%s\n", model.module().graph().str().c_str());
  if (report)
    std::printf("\n%s\n", report->text().c_str());
  else
    print_list("steps", {"--compile lists those of a call, and why they are "
                         "computed so"});
}

}  // namespace fxjit::command
