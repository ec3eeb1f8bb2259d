#include "tools/fxjit/page/trace.h"

#include <nlohmann/json.hpp>
#include <span>

#include "src/support/disk/atomic_file.h"

namespace fxjit::command {
namespace {

using nlohmann::json;

enum Track { kSteps = 1, kCompilation = 2 };

class Trace {
 public:
  void add(const MeasuredRun& run) {
    ++process_;
    name("process_name", kSteps, run.title);
    name("thread_name", kSteps, "steps of a call");
    name("thread_name", kCompilation, "compilation");
    double now = 0;
    for (const ProgramInspection& program : run.inspection.programs)
      for (size_t s = 0; s < program.steps.size(); ++s)
        now = add_step(program, s, now);
    counter("arena", now, 0);
    counter("GFLOP/s", now, 0);
    counter("GB/s", now, 0);
    add_compilation(run.inspection.profile);
  }

  json data() {
    return {{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events_)}};
  }

 private:
  json event(const char* kind, const std::string& name) const {
    return {{"ph", kind}, {"name", name}, {"pid", process_}};
  }

  void name(const char* what, Track track, const std::string& text) {
    json made = event("M", what);
    made["tid"] = track;
    made["args"] = {{"name", text}};
    events_.push_back(std::move(made));
  }

  void counter(const char* what, double at, double value) {
    json made = event("C", what);
    made["ts"] = at;
    made["args"] = {{what, value}};
    events_.push_back(std::move(made));
  }

  void span(const std::string& label, Track track, double at, double us,
            json args) {
    json made = event("X", label);
    made["tid"] = track;
    made["ts"] = at;
    made["dur"] = us;
    made["args"] = std::move(args);
    events_.push_back(std::move(made));
  }

  static double arena_at(const ProgramInspection& program, size_t step) {
    int64_t bytes = 0;
    const auto at = static_cast<int32_t>(step);
    for (const BufferInspection& buffer : program.buffers)
      if (buffer.home == BufferInspection::Home::arena && buffer.first <= at &&
          at <= buffer.last)
        bytes += buffer.bytes;
    return static_cast<double>(bytes);
  }

  double add_step(const ProgramInspection& program, size_t index, double now) {
    const StepInspection& step = program.steps[index];
    json nodes = json::array();
    for (const NodeReport& node : step.report.nodes)
      nodes.push_back(node.name +
                      (node.file.empty()
                           ? ""
                           : " (" + node.file + ":" +
                                 std::to_string(node.line) + ")"));
    json args = {{"kernel", step.report.kernel},
                 {"skeleton", step.skeleton},
                 {"nodes", std::move(nodes)},
                 {"MFLOP", step.profile.flops / 1e6},
                 {"MB", step.profile.bytes / 1e6},
                 {"share of the limit", step.profile.of_limit}};
    for (const auto& [what, value] : step.sizes) args[what] = value;
    if (!step.report.reason.empty()) args["reason"] = step.report.reason;
    if (!step.report.way.empty()) args["way"] = step.report.way;
    const double us = step.profile.microseconds;
    span(step.report.label, kSteps, now, us, std::move(args));
    counter("arena", now, arena_at(program, index));
    counter("GFLOP/s", now, step.profile.gflops);
    counter("GB/s", now, step.profile.gigabytes);
    return now + us;
  }

  // Times are sums over threads.
  void add_compilation(const Profile& profile) {
    double now = 0;
    for (const auto& [what, ms] :
         {std::pair("passes", profile.passes_ms),
          std::pair("emit", profile.emit_ms),
          std::pair("optimise", profile.optimise_ms),
          std::pair("generate code", profile.codegen_ms),
          std::pair("link", profile.link_ms),
          std::pair("pack weights", profile.pack_ms)}) {
      span(what, kCompilation, now, ms * 1e3, json::object());
      now += ms * 1e3;
    }
  }

  int process_ = 0;
  json events_ = json::array();
};

}  // namespace

void write_trace(const std::vector<MeasuredRun>& runs,
                 const std::string& path) {
  Trace trace;
  for (const MeasuredRun& run : runs) trace.add(run);
  const std::string text = trace.data().dump(
      -1, ' ', false, json::error_handler_t::replace);
  support::AtomicFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

}  // namespace fxjit::command
