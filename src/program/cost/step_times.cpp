// Times of steps, those of branches and bodies among them.
#include <algorithm>

#include "src/program/running/executable.h"

namespace fxjit::program {
namespace {

using Rows = std::vector<StepTimes::Row>;

void add_rows(const Executable& executable, const StepTimes* times,
              const std::string& around, double calls, Rows& rows) {
  const std::vector<Step>& steps = executable.program().steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    const bool timed = times && i < times->nanoseconds.size();
    const ExternCode* const external = executable.external(i);
    rows.push_back({around, &steps[i], &executable.plans()[i], external, calls,
                    timed ? times->nanoseconds[i] : 0});
    if (!external) continue;
    const std::vector<ExternCode::Body> bodies = external->bodies();
    const auto found =
        times ? times->bodies.find(static_cast<int32_t>(i))
              : std::map<int32_t, std::vector<StepTimes>>::const_iterator();
    const bool ran = times && found != times->bodies.end();
    for (size_t b = 0; b < bodies.size(); ++b) {
      const StepTimes* const inner =
          ran && b < found->second.size() ? &found->second[b] : nullptr;
      add_rows(*bodies[b].program, inner,
               around.empty() ? bodies[b].name : around + "." + bodies[b].name,
               inner ? inner->mean_calls() : 0, rows);
    }
  }
}

}  // namespace

std::vector<StepTimes::Row> StepTimes::rows(
    const Executable& executable) const {
  Rows all;
  add_rows(executable, this, "", 1, all);
  return all;
}

double StepTimes::mean_calls() const {
  return static_cast<double>(calls) / divided_by;
}

void StepTimes::add(const StepTimes& more) {
  calls += more.calls;
  nanoseconds.resize(std::max(nanoseconds.size(), more.nanoseconds.size()));
  for (size_t i = 0; i < more.nanoseconds.size(); ++i)
    nanoseconds[i] += more.nanoseconds[i];
  for (const auto& [step, others] : more.bodies) {
    std::vector<StepTimes>& own = bodies[step];
    own.resize(std::max(own.size(), others.size()));
    for (size_t i = 0; i < others.size(); ++i) own[i].add(others[i]);
  }
}

void StepTimes::divide(int by) {
  divided_by *= by;
  for (double& time : nanoseconds) time /= by;
  for (auto& [step, inner] : bodies)
    for (StepTimes& times : inner) times.divide(by);
}

}  // namespace fxjit::program
