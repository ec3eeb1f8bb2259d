// A profile as the table that programs print.
#include <cstdio>

#include "fxjit/compile.h"

namespace fxjit {
namespace {

// Rates and shares of work that is not counted are left out.
std::string cell(int width, int digits, double value) {
  char text[32];
  if (value > 0)
    std::snprintf(text, sizeof text, " %*.*f", width, digits, value);
  else
    std::snprintf(text, sizeof text, " %*s", width, "-");
  return text;
}

// Small programs in thousands, so that no row is all zeros.
struct Unit {
  double size;
  char prefix;
};

Unit unit_of(const StepProfile& sum) {
  const bool small = sum.flops < 1e6 && sum.bytes < 1e6;
  return small ? Unit{1e3, 'k'} : Unit{1e6, 'M'};
}

std::string header(const Unit& unit) {
  char text[96];
  std::snprintf(text, sizeof text, " %10s %8s %8s %7s %6s %6s  %s\n", "us",
                (unit.prefix + std::string("FLOP")).c_str(),
                (unit.prefix + std::string("B")).c_str(), "GFLOP/s", "GB/s",
                "%limit", "step");
  return text;
}

std::string row(const StepProfile& step, const Unit& unit,
                const std::string& label) {
  return cell(10, 2, step.microseconds) + cell(8, 3, step.flops / unit.size) +
         cell(8, 3, step.bytes / unit.size) + cell(7, 1, step.gflops) +
         cell(6, 1, step.gigabytes) + cell(6, 0, step.of_limit * 100) + "  " +
         label + "\n";
}

// What the step computes last tells equal steps of a model apart.
std::string label_of(const StepProfile& step) {
  std::string text;
  if (!step.body.empty()) {
    char calls[48];
    std::snprintf(calls, sizeof calls, " x %.4g: ", step.calls);
    text = "  " + step.body + calls;
  }
  return text + step.label + (step.native ? "" : " (not native)") +
         (step.nodes.empty() ? "" : "  <- %" + step.nodes.back());
}

StepProfile sum_of(const Profile& profile) {
  StepProfile sum;
  double least = 0;
  for (const StepProfile& step : profile.steps) {
    // The time of bodies is that of the step that calls them.
    if (step.body.empty()) sum.microseconds += step.microseconds;
    sum.flops += step.flops;
    sum.bytes += step.bytes;
    least += step.of_limit * step.microseconds;
  }
  if (sum.microseconds > 0) {
    sum.gflops = sum.flops / sum.microseconds / 1e3;
    sum.gigabytes = sum.bytes / sum.microseconds / 1e3;
    sum.of_limit = least / sum.microseconds;
  }
  return sum;
}

}  // namespace

std::string profile_text(const Profile& profile) {
  const StepProfile sum = sum_of(profile);
  const Unit unit = unit_of(sum);
  std::string text = header(unit);
  for (const StepProfile& step : profile.steps)
    text += row(step, unit, label_of(step));
  return text + row(sum, unit, std::to_string(profile.steps.size()) + " steps");
}

}  // namespace fxjit
