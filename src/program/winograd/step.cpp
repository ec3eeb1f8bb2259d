#include "src/program/winograd/step.h"

#include <algorithm>

#include "src/program/cost/body_work.h"

namespace fxjit::program {

// A range of tasks that begins within a block transforms its input once more.
StepPlan WinogradStep::plan(CpuLevel level) const {
  StepPlan plan;
  plan.tasks = shape.tiles == 0 ? 0 : shape.tile_blocks * shape.panels.panels;
  plan.scratch_bytes = static_cast<size_t>(shape.total) * sizeof(float);
  const double products =
      static_cast<double>(shape.tiles * shape.panels.frequencies) *
      static_cast<double>(channels * features);
  plan.grain = grain_of(
      kGrainProducts,
      products / static_cast<double>(std::max<int64_t>(1, plan.tasks)));
  const auto images = static_cast<double>(batch);
  const auto places = static_cast<double>(out_height * out_width);
  const auto results = static_cast<double>(features);
  plan.flops = 2 * products +
               images * places * results * body_operations(epilogue, level);
  plan.bytes = images * static_cast<double>(height * width) *
                   static_cast<double>(channels) *
                   static_cast<double>(dtype_size(input)) +
               4.0 * static_cast<double>(
                         weights::winograd_elements(shape.panels, words())) +
               epilogue_bytes(images, places, results);
  return plan;
}

StepFacts WinogradStep::facts() const {
  return {{"batch", std::to_string(batch)},
          {"height", std::to_string(out_height)},
          {"width", std::to_string(out_width)},
          {"channels", std::to_string(channels)},
          {"features", std::to_string(features)},
          {"tile", std::to_string(tile)},
          {"input", std::string(dtype_name(input))}};
}

std::vector<InPlacePair> WinogradStep::in_place() const {
  return epilogue_pairs();
}

StepKernels<WinogradForm> WinogradStep::kernels(CpuLevel) const {
  return {{winograd_form(*this)}, code_with(winograd_numbers(*this))};
}

}  // namespace fxjit::program
