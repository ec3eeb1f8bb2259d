#include "tools/fxjit/page/measured_run.h"

#include <algorithm>
#include <chrono>

#include "fxjit/fx/pytree.h"

namespace fxjit::command {
namespace {

ValueList copies(const ValueList& inputs) {
  ValueList copied;
  for (const Value& input : inputs)
    copied.push_back(input.is_tensor() ? Value(input.as_tensor().clone())
                                       : input);
  return copied;
}

std::string title_of(const RunSetting& setting, int threads) {
  std::string title = setting.unfused ? "unfused" : "fused";
  for (const std::string& pass : setting.disabled) title += ", no " + pass;
  return title + ", " + std::to_string(threads) +
         (threads == 1 ? " thread" : " threads");
}

// As many calls as take about a second.
int calls_for(double seconds) {
  constexpr int kLeast = 5, kMost = 50;
  return std::clamp(static_cast<int>(1.0 / std::max(seconds, 1e-6)), kLeast,
                    kMost);
}

}  // namespace

const std::vector<std::string>& fusing_passes() {
  static const std::vector<std::string> kPasses = {
      "fuse", "fuse_epilogues", "fuse_attention", "merge_linears"};
  return kPasses;
}

MeasuredRun measure_run(const Model& model, const ValueList& inputs,
                        const RunSetting& setting) {
  CompileOptions options;
  options.threads = setting.threads;
  options.disabled_passes = setting.disabled;
  if (setting.unfused)
    options.disabled_passes.insert(options.disabled_passes.end(),
                                   fusing_passes().begin(),
                                   fusing_passes().end());
  compile(model.module(), options);
  model.call(copies(inputs));
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const Value result = model.call(copies(inputs));
  const std::chrono::duration<double> took = Clock::now() - start;
  MeasuredRun run;
  run.inspection = fxjit::inspect(model.module(), copies(inputs),
                                  {calls_for(took.count()), true});
  run.title = title_of(setting, run.inspection.threads);
  run.output_names = model.output_names(fx::tree_leaves(result).size());
  return run;
}

}  // namespace fxjit::command
