// Where a recurrent layer's product with its inputs is made. Measured on Zen 4;
// docs/decisions/recurrent_layers.md has the figures.
#include "src/ops/table/recurrence.h"

namespace fxjit::ops {
namespace {

// With fewer sequences to a thread, weights of inputs that each step reads cost
// more than the gates that it need not read.
constexpr int64_t kLeastRows = 4;
// Weights of a panel stay in the second-level cache for all of its sequences.
constexpr int64_t kMostDepth = 2048;
// Fewer times are not worth the first block, which is made before all steps.
constexpr int64_t kLeastTimes = 32;
// Smaller weights of states stay in the first-level cache: nothing waits.
constexpr int64_t kLeastWeights = 12 * 1024;
// More features to a state are more work than there is waiting.
constexpr int64_t kMostFeatures = 2;

// Threads for a direction of one sequence: more of them have the contraction
// done sooner than steps make it beside theirs.
int64_t most_threads(Cell cell) { return cell == Cell::rnn ? 1 : 2; }

bool is_ahead_faster(const Recurrence& form, int64_t threads_each) {
  const int64_t weights = form.gates() * form.hidden * form.width;
  return threads_each <= most_threads(form.cell) &&
         form.length >= kLeastTimes && weights >= kLeastWeights &&
         form.features <= kMostFeatures * form.width;
}

bool is_within_faster(const Recurrence& form, int64_t threads_each) {
  return form.batch >= kLeastRows * threads_each &&
         form.features + form.width <= kMostDepth;
}

}  // namespace

InputProduct input_product(const Recurrence& form, CpuLevel level,
                           int threads) {
  if (level != CpuLevel::avx512 || form.dtype != DType::f32 ||
      !form.is_plain() || form.strict || form.packed || form.has_lengths ||
      form.features == 0)
    return InputProduct::given;
  const int64_t sides = form.directions;
  const int64_t each = (threads + sides - 1) / sides;
  if (form.batch == 1)
    return is_ahead_faster(form, each) ? InputProduct::ahead
                                       : InputProduct::given;
  return is_within_faster(form, each) ? InputProduct::within
                                      : InputProduct::given;
}

}  // namespace fxjit::ops
