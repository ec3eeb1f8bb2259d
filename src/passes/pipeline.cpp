#include "src/passes/pipeline.h"

#include <algorithm>

#include "src/passes/fusing/fuse.h"
#include "src/passes/fusing/twins.h"
#include "src/passes/lowering/conv_work.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/memory/check_memory.h"
#include "src/passes/memory/result_order.h"
#include "src/passes/normalize.h"
#include "src/passes/patterns.h"

namespace fxjit::passes {
ModelGraph run_pipeline(const fx::GraphModule& module,
                        std::span<const Value> inputs,
                        const PipelineOptions& options) {
  return run_pipeline(normalize(module, inputs), options);
}

ModelGraph run_pipeline(ModelGraph model, const PipelineOptions& options) {
  check_memory(model);
  const auto enabled = [&](std::string_view pass) {
    return std::ranges::find(options.disabled, pass) == options.disabled.end();
  };
  // Passes keep the structure of the result.
  std::vector<ModelGraph::Result> results = std::move(model.results);
  std::vector<int32_t> written = std::move(model.written);
  const auto done = [&](std::string_view pass) {
    if (options.hooks.alter) options.hooks.alter(pass, model);
    verify(model);
    if (!options.hooks.observer) return;
    model.results = results;
    model.written = written;
    options.hooks.observer(pass, model);
    model.results.clear();
    model.written.clear();
  };
  // Calls that patterns put in place of others lay out theirs as they like.
  const std::vector<Tensor> layouts = layouts_of_results(model);
  done("normalize");
  if (options.recurrent && enabled("join_recurrent_inputs") &&
      join_recurrent_inputs(model, *options.recurrent) > 0)
    done("join_recurrent_inputs");
  for (const Pattern& pattern : patterns())
    if (enabled(pattern.name) && pattern.rewrite(model) > 0) done(pattern.name);
  model = lower(model, {options.halves, options.plane_windows,
                        options.direct_convolutions || !enabled("winograd"),
                        options.strict_sums, options.byte_speed, layouts});
  done("lower");
  if (enabled("fuse_conv_work") && fuse_conv_work(model) > 0)
    done("fuse_conv_work");
  GroupingOptions grouping;
  grouping.fuse = enabled("fuse");
  grouping.strict_sums = options.strict_sums;
  grouping.serial = options.serial;
  grouping.epilogues = enabled("fuse_epilogues");
  model = fuse(model, grouping);
  done("fuse");
  mark_twins(model);
  model.results = std::move(results);
  model.written = std::move(written);
  return model;
}

std::vector<std::string> optional_passes() {
  std::vector<std::string> names{"join_recurrent_inputs"};
  for (const Pattern& pattern : patterns()) names.push_back(pattern.name);
  names.push_back("winograd");
  names.push_back("fuse_conv_work");
  names.push_back("fuse");
  names.push_back("fuse_epilogues");
  return names;
}

}  // namespace fxjit::passes
