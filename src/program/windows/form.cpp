#include "src/program/windows/form.h"

#include <algorithm>

#include "fxjit/error.h"
#include "src/program/windows/step.h"
#include "src/program/windows/tiles.h"
#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

// From the first element under a vector of places to behind the last one that
// its loads touch; see jit/emit/windows.
int64_t reach_of(const WindowStep& step) {
  const int64_t lanes = step.code.lanes, stride = step.strides[2];
  const int64_t last = (step.taps[2] - 1) * step.dilations[2];
  if (stride == 1) return last + lanes;
  if (carries_columns(step)) return 1 + 2 * lanes;
  if (stride == 2) return last / 2 * 2 + 2 * lanes;
  return last + (lanes - 1) * stride + 1;
}

// The last place at which a vector sees no padding; negative if there is none.
int64_t last_inside(const WindowStep& step) {
  const int64_t room = step.sizes[2] + step.pads[2] - reach_of(step);
  if (room < 0) return -1;
  return std::min<int64_t>(room / step.strides[2],
                           step.inner - step.code.lanes);
}

// The first place, of those where vectors begin, that loads no padding.
int64_t first_inside(const WindowStep& step) {
  const int64_t handed_on = carries_columns(step) ? 1 : 0;
  const int64_t padded = support::ceil_div(
      std::max<int64_t>(0, step.pads[2] - handed_on), step.strides[2]);
  return support::round_up(padded, step.code.lanes);
}

// Of an input of 8 bits.
int64_t outside_of(const WindowStep& step) {
  if (step.combine != WindowCombine::maximum) return step.outside;
  return step.input == DType::i8 ? -128 : 0;
}

// Vectors of a block of results, where they may have several groups: see
// jit/emit/windows/group_lanes.h.
int64_t block_vectors(const WindowStep& step) {
  if (step.code.groups == 1) return 0;
  const int64_t lanes = step.code.lanes, results = step.multiplier;
  const int64_t latest = results * step.code.groups - lanes;
  int64_t count = 0;
  for (int64_t end = 0; end < step.weight_block; ++count) {
    const int64_t first = std::min(end, step.weight_block - lanes);
    end = first + lanes - std::max<int64_t>(0, first % results - latest);
  }
  return count;
}

void set_groups(const WindowStep& step, WindowForm& form) {
  constexpr int64_t kFewChannels = 1;
  form.sums_groups = true;
  form.dense_channels = step.has_dense_channels();
  form.vector_groups = step.code.groups;
  if (step.is_spread()) form.spread = step.multiplier;
  form.mostly_one_group =
      step.code.groups > 1 && step.multiplier > step.code.lanes;
  if (step.group_channels <= kFewChannels)
    form.group_channels = step.group_channels;
  for (Dims* dims : {&form.taps, &form.strides, &form.dilations})
    (*dims)[0] = (*dims)[1] = 1;
  if (step.is_spread() || step.taps[2] <= kMostTapsInCode) return;
  form.taps[2] = 0;
  form.dilations[2] = 1;
}

}  // namespace

WindowForm window_form(const WindowStep& step) {
  FXJIT_CHECK(step.code.lanes > 0, "window: the step was not analysed");
  WindowForm form;
  form.loops = form_of_any_size(step);
  form.epilogue = step.epilogue;
  form.combine = step.combine;
  form.input = step.input;
  form.has_bias = step.has_bias;
  form.packs_weights = step.packs_weights;
  form.taps = step.taps;
  form.strides = step.strides;
  form.dilations = step.dilations;
  form.rows = step.code.rows;
  form.across = step.code.across;
  form.vectors = step.code.vectors;
  form.channels_inner = step.channels_inner;
  if (step.sums_groups())
    set_groups(step, form);
  else if (step.channels_inner)
    form.multiplier = step.multiplier;
  form.has_ring = step.code.has_ring;
  form.lanes = step.code.lanes;
  form.narrow = step.inner < step.code.lanes;
  form.has_strip = step.code.has_strip;
  form.fetches_ahead = step.code.fetches_ahead;
  return form;
}

std::string form_key(const WindowForm& form) {
  std::string key = "window" + loops_key(form.loops);
  for (int64_t number :
       {static_cast<int64_t>(form.combine), static_cast<int64_t>(form.input),
        int64_t{form.has_bias}, int64_t{form.packs_weights},
        int64_t{form.channels_inner}, form.multiplier,
        int64_t{form.sums_groups}, form.vector_groups, form.spread,
        int64_t{form.mostly_one_group}, form.group_channels,
        int64_t{form.dense_channels}, int64_t{form.has_ring}, form.lanes,
        form.rows, form.across, form.vectors, int64_t{form.narrow},
        int64_t{form.has_strip}, int64_t{form.fetches_ahead}})
    key += " " + std::to_string(number);
  key += form.taps.str() + form.strides.str() + form.dilations.str();
  return key + "\n" + body_key(form.epilogue);
}

// In the order of WindowNumber.
std::vector<int64_t> window_numbers(const WindowStep& step) {
  const WindowCode& code = step.code;
  std::vector<int64_t> numbers{step.multiplier};
  for (const Dims* dims : {&step.sizes, &step.pads, &step.steps})
    numbers.insert(numbers.end(), dims->begin(), dims->end());
  for (int64_t number :
       {code.row_blocks, code.rows_of_block, first_inside(step),
        last_inside(step), code.ring_row, code.weights_at, code.strip_at,
        outside_of(step), step.group_channels, step.weight_block,
        block_vectors(step)})
    numbers.push_back(number);
  for (const Dims* dims : {&step.taps, &step.strides, &step.dilations})
    numbers.insert(numbers.end(), dims->begin(), dims->end());
  FXJIT_CHECK(numbers.size() == static_cast<size_t>(WindowNumber::count),
              "window: the numbers of a step are not those of its code");
  return numbers;
}

}  // namespace fxjit::program
