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

}  // namespace

InputProduct input_product(const Recurrence& form, CpuLevel level,
                           int threads) {
  if (level != CpuLevel::avx512 || form.dtype != DType::f32 ||
      !form.is_plain() || form.strict || form.packed || form.has_lengths ||
      form.features == 0)
    return InputProduct::given;
  const int64_t sums = form.gates() * form.hidden;
  if (form.batch == 1)
    return form.length >= kLeastTimes && sums * form.width >= kLeastWeights &&
                   form.features <= kMostFeatures * form.width
               ? InputProduct::ahead
               : InputProduct::given;
  const int64_t sides = form.directions;
  const int64_t blocks = (threads + sides - 1) / sides;
  return form.batch >= kLeastRows * blocks &&
                 form.features + form.width <= kMostDepth
             ? InputProduct::within
             : InputProduct::given;
}

}  // namespace fxjit::ops
