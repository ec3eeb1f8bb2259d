#include "src/program/winograd/form.h"

#include "fxjit/error.h"
#include "src/program/winograd/step.h"

namespace fxjit::program {
namespace {

// Channels that are summed in one chain. The transform back of F(4) magnifies
// what chains round off about fourfold; sums of parts keep that near the errors
// of direct sums, which are chains of nine times as many products.
int64_t part_channels(int64_t channels) {
  if (channels < 32) return 8;
  if (channels < 64) return 16;
  return channels < 128 ? 32 : 64;
}

int64_t last_features(const WinogradStep& step) {
  const weights::WinogradPanels& panels = step.shape.panels;
  return step.features - (panels.panels - 1) * panels.width();
}

}  // namespace

WinogradForm winograd_form(const WinogradStep& step) {
  const WinogradShape& shape = step.shape;
  FXJIT_CHECK(shape.group > 0, "winograd: the step was not analysed");
  WinogradForm form{step.without_sizes()};
  form.tile = step.tile;
  form.lanes = shape.panels.lanes;
  form.vectors = shape.panels.vectors;
  form.group = shape.group;
  form.input = step.input;
  const int64_t part = part_channels(step.channels);
  form.short_part = !form.is_integer() && part < form.lanes ? part : 0;
  form.channel_rest = step.words() % form.lanes != 0;
  const int64_t last = last_features(step);
  form.last_panel = last != form.width();
  form.whole_panels = shape.panels.panels > 1 || !form.last_panel;
  form.feature_rest = last % form.lanes != 0;
  form.fetches_ahead = shape.weights_exceed_cache;
  return form;
}

std::string form_key(const WinogradForm& form) {
  std::string text = "winograd";
  for (int64_t number :
       {form.tile, form.lanes, form.vectors, form.group, form.short_part,
        int64_t{form.channel_rest}, int64_t{form.whole_panels},
        int64_t{form.last_panel}, int64_t{form.feature_rest},
        int64_t{form.fetches_ahead}})
    text += " " + std::to_string(number);
  if (form.is_integer()) text += " " + std::string(dtype_name(form.input));
  return text + form.epilogue_key();
}

// In the order of WinogradNumber.
std::vector<int64_t> winograd_numbers(const WinogradStep& step) {
  const WinogradShape& shape = step.shape;
  // A word of four equal bytes.
  const int64_t outside =
      int64_t{static_cast<uint8_t>(step.outside)} * 0x01010101;
  std::vector<int64_t> numbers{
      step.height,
      step.width,
      step.words(),
      step.out_height,
      step.out_width,
      step.pad_top,
      step.pad_left,
      step.input_batch,
      step.input_row,
      step.input_column,
      shape.tiles,
      shape.groups,
      shape.tile_blocks,
      shape.panels.panels,
      last_features(step),
      shape.channel_blocks,
      shape.channel_block_floats(),
      part_channels(step.channels) / shape.panels.lanes,
      shape.sums_at,
      shape.zeros_at,
      shape.places_at,
      outside};
  FXJIT_CHECK(numbers.size() == static_cast<size_t>(WinogradNumber::count),
              "winograd: the numbers of a step are not those of its code");
  for (const auto* accesses : {&step.extras, &step.outputs})
    for (const TileAccess& access : *accesses) {
      numbers.push_back(access.batch);
      numbers.push_back(access.row);
    }
  return numbers;
}

}  // namespace fxjit::program
