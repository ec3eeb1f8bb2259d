#include "tools/fxjit/page/graph_files.h"

#include <cstdio>
#include <filesystem>
#include <set>
#include <span>

#include "fxjit/error.h"
#include "src/support/disk/atomic_file.h"

namespace fxjit::command {
namespace {

std::string quoted(const std::string& text) {
  std::string safe = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') safe += '\\';
    safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return safe + "\"";
}

std::string box(const std::string& id, const std::string& label,
                const std::string& more) {
  return "  " + id + " [label=" + quoted(label) + more + "];\n";
}

std::string named(const std::string& name, const Tensor& val) {
  return val.defined() ? name + ": " + val.describe() : name;
}

std::string step_label(const FlowStep& flow) {
  char us[48];
  std::snprintf(us, sizeof us, " (%.1f us)", flow.step->profile.microseconds);
  return flow.step->report.label + us;
}

}  // namespace

std::string dot_text(const Flow& flow, const std::string& name) {
  std::string text = "digraph " + quoted(name) +
                     " {\n  node [shape=box, style=rounded, "
                     "fontname=\"sans-serif\"];\n";
  const auto id = [&](int32_t value) {
    const int32_t step = flow.values[static_cast<size_t>(value)].step;
    return step < 0 ? "in" + std::to_string(value)
                    : "step" + std::to_string(step);
  };
  for (const int32_t input : flow.inputs) {
    const FlowValue& value = flow.values[static_cast<size_t>(input)];
    text += box(id(input), named(value.name, value.val),
                ", shape=ellipse");
  }
  for (size_t s = 0; s < flow.steps.size(); ++s) {
    const std::string to = "step" + std::to_string(s);
    text += box(to, step_label(flow.steps[s]), "");
    std::set<std::string> from;
    for (const int32_t value : flow.steps[s].reads) from.insert(id(value));
    for (const std::string& source : from)
      text += "  " + source + " -> " + to + ";\n";
  }
  for (size_t i = 0; i < flow.outputs.size(); ++i) {
    const std::string to = "out" + std::to_string(i);
    text += box(to, named(flow.outputs[i].name, flow.outputs[i].val),
                ", shape=ellipse");
    for (const int32_t value : flow.outputs[i].values)
      text += "  " + id(value) + " -> " + to + ";\n";
  }
  return text + "}\n";
}

void write_compiled_graph(const Model& model, const MeasuredRun& run,
                          const std::string& path) {
  const Flow flow =
      flow_of(run.inspection, model.module().graph(), run.output_names);
  const std::string name =
      std::filesystem::path(model.path()).filename().string();
  const std::string text =
      path.ends_with(".onnx") ? onnx_text(flow, name) : dot_text(flow, name);
  support::AtomicFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

}  // namespace fxjit::command
