// CompiledModule::profile: a clock around each step of some calls.
#include <algorithm>
#include <chrono>

#include "src/compile/compiled_module.h"
#include "src/compile/machine_limits.h"

namespace fxjit {
namespace {

StepProfile native_row(const program::StepTimes::Row& timed, double limit_ns) {
  const program::Step& step = *timed.step;
  const double calls = timed.body.empty() ? 1 : timed.calls;
  StepProfile row;
  row.body = timed.body;
  row.calls = calls;
  row.label = step.label;
  row.nodes = *step.nodes;
  row.native = !timed.external || timed.external->native();
  row.microseconds = timed.nanoseconds / 1e3;
  row.flops = timed.plan->flops * calls;
  row.bytes = timed.plan->bytes * calls;
  if (timed.nanoseconds > 0) {
    row.gflops = row.flops / timed.nanoseconds;
    row.gigabytes = row.bytes / timed.nanoseconds;
    row.of_limit = calls * limit_ns / timed.nanoseconds;
  }
  return row;
}

StepProfile row_between(const StageTime& stage) {
  StepProfile row;
  row.label = std::string(stage.node->target_name());
  row.nodes = {std::string(stage.node->name())};
  row.native = stage.native;
  row.microseconds = stage.nanoseconds / 1e3;
  return row;
}

// One call's steps, in the order in which they ran.
std::vector<StepProfile> rows_of(const std::vector<StageTime>& stages,
                                 const MachineLimits& limits, int threads) {
  std::vector<StepProfile> rows;
  for (const StageTime& stage : stages) {
    if (!stage.shape) {
      rows.push_back(row_between(stage));
      continue;
    }
    const program::Executable& executable = stage.shape->executable();
    for (const program::StepTimes::Row& row : stage.steps.rows(executable))
      rows.push_back(native_row(row, limits.nanoseconds(*row.plan, threads)));
  }
  return rows;
}

using Calls = std::vector<std::vector<StageTime>>;

// The median of what `time_of` finds in each call.
template <typename TimeOf>
double median(const Calls& calls, const TimeOf& time_of) {
  std::vector<double> times;
  for (const std::vector<StageTime>& call : calls)
    if (const double* const time = time_of(call)) times.push_back(*time);
  const auto middle = times.begin() + static_cast<int64_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

// Branches and bodies run more often in one call than in another: their means.
std::map<int32_t, std::vector<program::StepTimes>> mean_bodies(
    const Calls& calls, size_t stage) {
  program::StepTimes sum;
  for (const std::vector<StageTime>& call : calls)
    if (stage < call.size()) sum.add(call[stage].steps);
  sum.divide(static_cast<int>(calls.size()));
  return std::move(sum.bodies);
}

// The stages of the first call, with medians over those that took the same
// steps.
std::vector<StageTime> medians(const Calls& calls) {
  if (calls.empty()) return {};
  std::vector<StageTime> stages = calls.front();
  for (size_t i = 0; i < stages.size(); ++i) {
    stages[i].nanoseconds =
        median(calls, [&](const std::vector<StageTime>& call) {
          return i < call.size() ? &call[i].nanoseconds : nullptr;
        });
    std::vector<double>& steps = stages[i].steps.nanoseconds;
    for (size_t j = 0; j < steps.size(); ++j)
      steps[j] = median(
          calls, [&](const std::vector<StageTime>& call) -> const double* {
            if (i >= call.size()) return nullptr;
            const std::vector<double>& times = call[i].steps.nanoseconds;
            return j < times.size() ? &times[j] : nullptr;
          });
    stages[i].steps.bodies = mean_bodies(calls, i);
  }
  return stages;
}

// Adds what one stage of a call took to a report.
void add_steps(const StageTime& stage, Report& report) {
  if (stage.shape) {
    report.programs.push_back(stage.shape->report());
    std::vector<StepReport>& steps = report.programs.back().steps;
    const auto rows = stage.steps.rows(stage.shape->executable());
    for (size_t i = 0; i < rows.size(); ++i) {
      steps[i].microseconds = rows[i].nanoseconds / 1e3;
      steps[i].calls = rows[i].calls;
    }
    return;
  }
  // The node that ended the part before, or one between two such nodes.
  if (!report.programs.empty())
    for (StepReport& step : report.programs.back().steps)
      if (step.body.empty() && !step.nodes.empty() &&
          step.nodes[0].name == stage.node->name()) {
        step.microseconds = stage.nanoseconds / 1e3;
        return;
      }
  ProgramReport alone;
  alone.begin = std::string(stage.node->name());
  alone.steps = {step_between(*stage.node, stage.native, "")};
  alone.steps[0].microseconds = stage.nanoseconds / 1e3;
  report.programs.push_back(std::move(alone));
}

void set_shares(Report& report) {
  double sum = 0;
  for (const ProgramReport& program : report.programs)
    for (const StepReport& step : program.steps)
      if (step.body.empty()) sum += step.microseconds;
  if (sum <= 0) return;
  for (ProgramReport& program : report.programs)
    for (StepReport& step : program.steps) step.share = step.microseconds / sum;
}

}  // namespace

std::pair<CompiledModule::Source, CompiledModule::Shape>
CompiledModule::to_measure(std::span<const Value> inputs) {
  Source graph = source();
  Shape shape = get(inputs);
  if (!graph || !shape)
    throw UserError("profile: the module was compiled anew meanwhile");
  if (!shape->compiled())
    throw UserError("profile: these inputs have no compiled program: " +
                    shape->part().why_not);
  return {std::move(graph), std::move(shape)};
}

std::vector<StageTime> CompiledModule::measure(const Source& graph,
                                               const Shape& shape,
                                               std::span<const Value> inputs,
                                               int calls) {
  Calls measured(static_cast<size_t>(std::max(0, calls)));
  for (std::vector<StageTime>& stages : measured)
    staged_run(graph).run(inputs, shape, &stages);
  return medians(measured);
}

Report CompiledModule::measured_report(std::span<const Value> inputs,
                                       int calls) {
  const auto [graph, shape] = to_measure(inputs);
  Report report;
  for (const StageTime& stage : measure(graph, shape, inputs, calls))
    add_steps(stage, report);
  set_shares(report);
  return report;
}

Profile CompiledModule::profile(std::span<const Value> inputs, int calls,
                                std::vector<StageTime>* stages) {
  const auto [graph, shape] = to_measure(inputs);
  using Clock = std::chrono::steady_clock;
  std::vector<double> whole;
  for (int i = 0; i < calls; ++i) {
    const auto start = Clock::now();
    if (shape->whole())
      shape->run(inputs, blocks_);
    else
      staged_run(graph).run(inputs, shape);
    const std::chrono::duration<double, std::micro> took = Clock::now() - start;
    whole.push_back(took.count());
  }
  std::vector<StageTime> sum = measure(graph, shape, inputs, calls);
  Profile result = shape->timings();
  for (const StageTime& stage : sum)
    if (stage.shape)
      result.arena_bytes +=
          static_cast<size_t>(stage.shape->executable().program().arena_bytes);
  result.packed_bytes = weights_.bytes();
  std::nth_element(whole.begin(), whole.begin() + calls / 2, whole.end());
  result.call_microseconds =
      whole.empty() ? 0 : whole[static_cast<size_t>(calls / 2)];
  result.steps = rows_of(sum, machine_limits(engine_), machine_.threads);
  if (stages) *stages = std::move(sum);
  return result;
}

}  // namespace fxjit
