#include "src/program/resampling/form.h"

#include "fxjit/error.h"
#include "src/program/resampling/step.h"

namespace fxjit::program {
ResampleForm resample_form(const ResampleStep& step) {
  FXJIT_CHECK(step.code.lanes > 0, "resample: the step was not analysed");
  ResampleForm form;
  form.loops = form_of_any_size(step);
  form.epilogue = step.epilogue;
  form.dtype = step.dtype;
  form.channels_inner = step.channels_inner;
  form.row_taps = step.row_taps;
  form.column_taps = step.column_taps;
  form.row_weights = step.row_weights;
  form.column_weights = step.column_weights;
  form.row_span = step.row_span;
  form.reads = step.code.reads;
  if (step.spreads_vectors()) {
    form.row_factor = step.row_factor;
    form.column_factor = step.column_factor;
  }
  form.lanes = step.code.lanes;
  form.narrow = step.inner < step.code.lanes;
  return form;
}

std::string form_key(const ResampleForm& form) {
  std::string key = "resample" + loops_key(form.loops);
  for (int64_t number :
       {static_cast<int64_t>(form.dtype), int64_t{form.channels_inner},
        form.row_taps, form.column_taps, int64_t{form.row_weights},
        int64_t{form.column_weights}, form.row_span,
        static_cast<int64_t>(form.reads), form.row_factor, form.column_factor,
        form.lanes, int64_t{form.narrow}})
    key += " " + std::to_string(number);
  return key + "\n" + body_key(form.epilogue);
}

// In the order of ResampleNumber.
std::vector<int64_t> resample_numbers(const ResampleStep& step) {
  const ResampleCode& code = step.code;
  std::vector<int64_t> numbers;
  for (const Dims* dims : {&step.sizes, &step.steps})
    numbers.insert(numbers.end(), dims->begin(), dims->end());
  for (int64_t number :
       {code.row_blocks, code.rows_of_block, code.channel_blocks,
        code.channels_of_block, code.ring_row, code.held_at, code.lanes_at,
        code.firsts_at})
    numbers.push_back(number);
  FXJIT_CHECK(numbers.size() == static_cast<size_t>(ResampleNumber::count),
              "resample: the numbers of a step are not those of its code");
  return numbers;
}

}  // namespace fxjit::program
