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

std::string row(const StepProfile& step, const std::string& label) {
  return cell(10, 2, step.microseconds) + cell(9, 3, step.flops / 1e6) +
         cell(9, 3, step.bytes / 1e6) + cell(8, 1, step.gflops) +
         cell(7, 1, step.gigabytes) + cell(5, 0, step.of_limit * 100) + "  " +
         label + "\n";
}

}  // namespace

std::string profile_text(const Profile& profile) {
  std::string text =
      "         us     MFLOP        MB  GFLOP/s    GB/s  %lim  step\n";
  StepProfile sum;
  double least = 0;
  for (const StepProfile& step : profile.steps) {
    text += row(step, step.label + (step.native ? "" : " (not native)"));
    sum.microseconds += step.microseconds;
    sum.flops += step.flops;
    sum.bytes += step.bytes;
    least += step.of_limit * step.microseconds;
  }
  if (sum.microseconds > 0) {
    sum.gflops = sum.flops / sum.microseconds / 1e3;
    sum.gigabytes = sum.bytes / sum.microseconds / 1e3;
    sum.of_limit = least / sum.microseconds;
  }
  return text + row(sum, std::to_string(profile.steps.size()) + " steps");
}

}  // namespace fxjit
