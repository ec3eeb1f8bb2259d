// A report as text and as JSON.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "fxjit/report.h"

namespace fxjit {
namespace {

using Json = nlohmann::ordered_json;

std::string step_line(size_t number, const StepReport& step) {
  char head[32];
  std::snprintf(head, sizeof head, "  %3d ", static_cast<int>(number));
  std::string text = head;
  if (!step.body.empty()) text += "  " + step.body + ": ";
  text += step.kernel;
  if (!is_native(step.by)) text += " (not native)";
  text += "  " + step.label;
  if (!step.nodes.empty()) text += "  <-";
  for (const NodeReport& node : step.nodes) text += " %" + node.name;
  if (!step.reason.empty()) text += ": " + step.reason;
  if (!step.way.empty()) text += "  [" + step.way + "]";
  if (step.share > 0) {
    char share[32];
    std::snprintf(share, sizeof share, "  %.1f%%", step.share * 100);
    text += share;
  }
  if (!step.body.empty() && step.calls > 0) {
    char calls[32];
    std::snprintf(calls, sizeof calls, "  %.4g calls", step.calls);
    text += calls;
  }
  return text + "\n";
}

std::string program_text(const ProgramReport& program) {
  std::string text =
      program.begin.empty() ? "inputs: " : "from %" + program.begin + " on: ";
  text += program.inputs + "\n";
  if (!program.why_not.empty())
    text += "  interpreter: " + program.why_not + "\n";
  for (size_t i = 0; i < program.steps.size(); ++i)
    text += step_line(i, program.steps[i]);
  return text;
}

std::string kind_text(const KindReport& kind) {
  std::string text = "sizes: " + kind.inputs + "\n";
  if (!kind.why_not.empty())
    text += "  each tuple has a graph of its own: " + kind.why_not + "\n";
  for (const SizeReport& size : kind.sizes)
    text += "  " + size.name + " in " + std::to_string(size.least) + ".." +
            (size.most ? std::to_string(*size.most) : "") + "\n";
  for (const GuardReport& guard : kind.guards)
    text += std::string("  ") + (guard.specialises ? "only " : "assumes ") +
            guard.text + (guard.where.empty() ? "" : ": " + guard.where) + "\n";
  return text;
}

Json kind_json(const KindReport& kind) {
  Json sizes = Json::array(), guards = Json::array();
  for (const SizeReport& size : kind.sizes)
    sizes.push_back({{"name", size.name},
                     {"least", size.least},
                     {"most", size.most ? Json(*size.most) : Json()}});
  for (const GuardReport& guard : kind.guards)
    guards.push_back({{"text", guard.text},
                      {"where", guard.where},
                      {"specialises", guard.specialises}});
  return {{"inputs", kind.inputs},
          {"sizes", std::move(sizes)},
          {"guards", std::move(guards)},
          {"why_not", kind.why_not}};
}

Json node_json(const NodeReport& node) {
  return {{"name", node.name},
          {"target", node.target},
          {"file", node.file},
          {"line", node.line}};
}

Json step_json(const StepReport& step) {
  Json nodes = Json::array();
  for (const NodeReport& node : step.nodes) nodes.push_back(node_json(node));
  return {{"by", computed_by_name(step.by)},
          {"label", step.label},
          {"kernel", step.kernel},
          {"nodes", std::move(nodes)},
          {"reason", step.reason},
          {"way", step.way},
          {"microseconds", step.microseconds},
          {"share", step.share},
          {"body", step.body},
          {"calls", step.calls}};
}

Json program_json(const ProgramReport& program) {
  Json steps = Json::array();
  for (const StepReport& step : program.steps) steps.push_back(step_json(step));
  return {{"inputs", program.inputs},
          {"begin", program.begin},
          {"why_not", program.why_not},
          {"steps", std::move(steps)}};
}

}  // namespace

bool Report::native() const {
  for (const ProgramReport& program : programs) {
    if (!program.why_not.empty()) return false;
    for (const StepReport& step : program.steps)
      if (!is_native(step.by)) return false;
  }
  return true;
}

std::string Report::text() const {
  std::string text;
  for (const ProgramReport& program : programs) text += program_text(program);
  for (const KindReport& kind : kinds) text += kind_text(kind);
  return text;
}

std::string Report::json() const {
  Json list = Json::array(), kind_list = Json::array();
  for (const ProgramReport& program : programs)
    list.push_back(program_json(program));
  for (const KindReport& kind : kinds) kind_list.push_back(kind_json(kind));
  // Names come from users: what is no UTF-8 is shown as such.
  return Json{{"programs", std::move(list)}, {"kinds", std::move(kind_list)}}
             .dump(2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace fxjit
