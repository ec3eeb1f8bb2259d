// One measured run: steps, buffers, the compiled graph, and the code of
// kernels.
#include <algorithm>
#include <cmath>
#include <map>

#include "tools/fxjit/page/packed_text.h"
#include "tools/fxjit/page/page_data.h"

namespace fxjit::command {
namespace {

const char* home_name(BufferInspection::Home home) {
  using Home = BufferInspection::Home;
  switch (home) {
    case Home::arena:
      return "arena";
    case Home::constant:
      return "constant";
    case Home::packed:
      return "packed";
    case Home::input:
      return "input";
    case Home::output:
      return "output";
  }
  return "";
}

std::string described(const Tensor& val) {
  return val.defined() ? val.describe() : "";
}

double rounded(double number) { return std::round(number * 1e4) / 1e4; }

json node_data(const NodeReport& node) {
  json data = {{"name", node.name}, {"target", node.target}};
  if (!node.file.empty()) {
    data["file"] = node.file;
    data["line"] = node.line;
  }
  return data;
}

class RunData {
 public:
  RunData(const MeasuredRun& run, const fx::Graph& captured)
      : run_(run), flow_(flow_of(run.inspection, captured, run.output_names)) {}

  json data() {
    const Inspection& seen = run_.inspection;
    const Profile& profile = seen.profile;
    json bandwidths = json::array();
    for (const auto& [bytes, gigabytes] : seen.bandwidths)
      bandwidths.push_back({bytes, rounded(gigabytes)});
    json programs = json::array();
    for (const ProgramInspection& program : seen.programs)
      programs.push_back(program_data(program));
    return {{"title", run_.title},
            {"threads", seen.threads},
            {"call_us", rounded(profile.call_microseconds)},
            {"arena_bytes", profile.arena_bytes},
            {"packed_bytes", profile.packed_bytes},
            {"compile_ms",
             {{"passes", rounded(profile.passes_ms)},
              {"emit", rounded(profile.emit_ms)},
              {"optimise", rounded(profile.optimise_ms)},
              {"codegen", rounded(profile.codegen_ms)},
              {"link", rounded(profile.link_ms)},
              {"pack", rounded(profile.pack_ms)}}},
            {"limits",
             {{"gflops", rounded(seen.gflops)},
              {"bandwidths", std::move(bandwidths)}}},
            {"programs", std::move(programs)},
            {"kinds", kinds()},
            {"steps", steps()},
            {"graph", graph()}};
  }

 private:
  static json program_data(const ProgramInspection& program) {
    json buffers = json::array();
    for (const BufferInspection& buffer : program.buffers) {
      json data = {{"home", home_name(buffer.home)},
                   {"bytes", buffer.bytes},
                   {"first", buffer.first},
                   {"last", buffer.last}};
      if (!buffer.name.empty()) data["name"] = buffer.name;
      if (buffer.val.defined()) data["type"] = buffer.val.describe();
      if (buffer.home == BufferInspection::Home::arena)
        data["offset"] = buffer.offset;
      buffers.push_back(std::move(data));
    }
    return {{"inputs", program.inputs},
            {"begin", program.begin},
            {"arena_bytes", program.arena_bytes},
            {"buffers", std::move(buffers)}};
  }

  // Inputs whose sizes have names, and what that relies on.
  json kinds() const {
    json list = json::array();
    for (const KindReport& kind : run_.inspection.kinds) {
      json sizes = json::array(), guards = json::array();
      for (const SizeReport& size : kind.sizes)
        sizes.push_back(
            {size.name, size.least, size.most ? json(*size.most) : json()});
      for (const GuardReport& guard : kind.guards)
        guards.push_back({{"text", guard.text},
                          {"where", guard.where},
                          {"specialises", guard.specialises}});
      list.push_back({{"inputs", kind.inputs},
                      {"sizes", std::move(sizes)},
                      {"guards", std::move(guards)},
                      {"why_not", kind.why_not}});
    }
    return list;
  }

  json steps() const {
    json list = json::array();
    for (const FlowStep& flow : flow_.steps) list.push_back(step_data(flow));
    return list;
  }

  json step_data(const FlowStep& flow) const {
    const StepInspection& step = *flow.step;
    json nodes = json::array(), sizes = json::array(), symbols = json::array();
    for (const NodeReport& node : step.report.nodes)
      nodes.push_back(node_data(node));
    for (const auto& [name, value] : step.sizes) sizes.push_back({name, value});
    for (const int32_t kernel : step.kernels)
      symbols.push_back(
          run_.inspection.kernels[static_cast<size_t>(kernel)].symbol);
    // The driver of the program is shown with all of its steps.
    const KernelInspection& driver =
        run_.inspection.programs[static_cast<size_t>(flow.program)].driver;
    if (!driver.symbol.empty() && step.skeleton != "between" &&
        step.report.by != ComputedBy::interpreter)
      symbols.push_back(driver.symbol);
    json data = {{"label", step.report.label},
                 {"by", computed_by_name(step.report.by)},
                 {"kernel", step.report.kernel},
                 {"skeleton", step.skeleton},
                 {"program", flow.program},
                 {"us", rounded(step.profile.microseconds)},
                 {"share", rounded(step.report.share)},
                 {"flops", step.profile.flops},
                 {"bytes", step.profile.bytes},
                 {"gflops", rounded(step.profile.gflops)},
                 {"gigabytes", rounded(step.profile.gigabytes)},
                 {"of_limit", rounded(step.profile.of_limit)},
                 {"nodes", std::move(nodes)},
                 {"sizes", std::move(sizes)},
                 {"operands", operands(flow)},
                 {"kernels", std::move(symbols)}};
    if (!step.report.reason.empty()) data["reason"] = step.report.reason;
    if (!step.report.way.empty()) data["way"] = step.report.way;
    return data;
  }

  // Each with the steps that gave it and why those were not fused.
  json operands(const FlowStep& flow) const {
    json list = json::array();
    for (const OperandInspection& operand : flow.step->operands) {
      if (operand.buffer < 0) continue;
      json data = {{"buffer", operand.buffer}};
      if (operand.written) data["written"] = true;
      json from = json::array();
      for (const int32_t number : flow.reads) {
        const FlowValue& value = flow_.values[static_cast<size_t>(number)];
        if (!operand.written && value.program == flow.program &&
            value.buffer == operand.buffer && value.step >= 0)
          from.push_back(value.step);
      }
      if (!from.empty()) data["from"] = std::move(from);
      if (!operand.apart.empty()) data["apart"] = operand.apart;
      list.push_back(std::move(data));
    }
    return list;
  }

  // Boxes: inputs, then steps, then outputs.
  json graph() {
    Drawing drawing;
    json labels = json::array();
    std::map<int32_t, int32_t> box_of_input;
    const auto add = [&](const std::string& label, const std::string& type) {
      drawing.boxes.push_back(
          {std::max(box_width(label), box_width(type)), 40, 0, 0});
      labels.push_back({label, type});
      return static_cast<int32_t>(drawing.boxes.size()) - 1;
    };
    for (const int32_t value : flow_.inputs) {
      const FlowValue& input = flow_.values[static_cast<size_t>(value)];
      box_of_input[value] = add(input.name, described(input.val));
    }
    const auto first_step = static_cast<int32_t>(drawing.boxes.size());
    for (const FlowStep& flow : flow_.steps)
      drawing.boxes.push_back({box_width(flow.step->report.label), 40, 0, 0});
    const auto wire = [&](int32_t value, int32_t to) {
      const int32_t step = flow_.values[static_cast<size_t>(value)].step;
      if (step < 0 && !box_of_input.contains(value)) return;
      const int32_t from =
          step >= 0 ? first_step + step : box_of_input.at(value);
      for (auto last = drawing.wires.rbegin();
           last != drawing.wires.rend() && last->to == to; ++last)
        if (last->from == from) return;
      drawing.wires.push_back({from, to, {}});
    };
    for (size_t s = 0; s < flow_.steps.size(); ++s)
      for (const int32_t value : flow_.steps[s].reads)
        wire(value, first_step + static_cast<int32_t>(s));
    for (const FlowOutput& output : flow_.outputs) {
      const int32_t box = add(output.name, described(output.val));
      for (const int32_t value : output.values) wire(value, box);
    }
    lay_out(drawing);
    json data = drawing_data(drawing);
    data["first_step"] = first_step;
    data["labels"] = std::move(labels);
    return data;
  }

  const MeasuredRun& run_;
  const Flow flow_;
};

// Time of all steps that call each kernel, by symbol.
std::map<std::string, double> times_of(
    const std::vector<const MeasuredRun*>& runs) {
  std::map<std::string, double> times;
  for (const MeasuredRun* run : runs)
    for (const ProgramInspection& program : run->inspection.programs)
      for (const StepInspection& step : program.steps)
        for (const int32_t kernel : step.kernels)
          times[run->inspection.kernels[static_cast<size_t>(kernel)].symbol] +=
              step.profile.microseconds;
  return times;
}

}  // namespace

json run_data(const MeasuredRun& run, const fx::Graph& captured) {
  return RunData(run, captured).data();
}

json kernel_data(const std::vector<const MeasuredRun*>& runs,
                 size_t most_bytes) {
  const std::map<std::string, double> times = times_of(runs);
  std::map<std::string, const KernelInspection*> kernels;
  for (const MeasuredRun* run : runs) {
    for (const KernelInspection& kernel : run->inspection.kernels)
      kernels.emplace(kernel.symbol, &kernel);
    for (const ProgramInspection& program : run->inspection.programs)
      if (!program.driver.symbol.empty())
        kernels.emplace(program.driver.symbol, &program.driver);
  }
  std::vector<std::pair<double, const KernelInspection*>> ordered;
  for (const auto& [symbol, kernel] : kernels)
    ordered.emplace_back(times.contains(symbol) ? times.at(symbol) : 0, kernel);
  std::stable_sort(
      ordered.begin(), ordered.end(),
      [](const auto& a, const auto& b) { return a.first > b.first; });
  json data = json::object();
  size_t bytes = 0;
  for (const auto& [time, kernel] : ordered) {
    const std::string ir = packed_text(kernel->ir),
                      assembly = packed_text(kernel->assembly);
    json entry = json::object();
    if (bytes + ir.size() + assembly.size() <= most_bytes) {
      bytes += ir.size() + assembly.size();
      entry = {{"ir", ir}, {"assembly", assembly}};
    }
    data[kernel->symbol] = std::move(entry);
  }
  return data;
}

}  // namespace fxjit::command
