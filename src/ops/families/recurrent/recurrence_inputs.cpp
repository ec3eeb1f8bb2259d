// Chooses where a recurrent layer multiplies its inputs by their weights: in
// one contraction before all steps, or in the steps in time. The bounds were
// measured on Zen 4; docs/decisions/recurrent_layers.md has the figures.
#include "src/ops/table/recurrence.h"

namespace fxjit::ops {
namespace {

// Fewest sequences of a thread for which steps multiply inputs themselves. With
// fewer, reading the input weights in every step costs more than reading gates
// that a contraction has computed.
constexpr int64_t kLeastRows = 4;
// Most input and state features for which a panel of weights stays in the
// second-level cache while all sequences of a thread use it.
constexpr int64_t kMostDepth = 2048;
// Fewest times that are worth it: the products of the first block of times have
// to be made before all steps.
constexpr int64_t kLeastTimes = 32;
// Fewest elements of the state weights. Fewer stay in the first-level cache, so
// that steps do not wait for memory and have no time to spare.
constexpr int64_t kLeastWeights = 12 * 1024;
// Most input features for each state feature. More of them are more work than
// fits into the time that steps wait.
constexpr int64_t kMostFeatures = 2;

// Most threads for one direction of a single sequence. With more threads, a
// contraction beforehand is faster than products between the steps.
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
      form.quantised || form.features == 0)
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
