#include "kernels/recurrence/layer_inputs.h"

#include <algorithm>

namespace fxjit::kernels {
namespace {

using ops::InputProduct;
using ops::Recurrence;

InputProduct way_of(const Recurrence& form, CpuLevel level, int threads) {
  if (!form.has_inputs) return InputProduct::given;
  const InputProduct best = ops::input_product(form, level, threads);
  // A call that has inputs gets them multiplied even where a product before it
  // would have been faster.
  return best == InputProduct::given ? InputProduct::within : best;
}

const float* bias_of(const program::StepCall& call, int64_t place) {
  return static_cast<const float*>(call.operands[static_cast<size_t>(place)]);
}

}  // namespace

LayerInputs::LayerInputs(const Recurrence& form, StepWork work,
                         const Places& places, const CallRequest& request,
                         int threads)
    : way_(way_of(form, request.level, threads)),
      form_(form),
      packing_{work,          {form.place},  form.hidden,
               form.features, request.level, way_ == InputProduct::ahead},
      first_bias_(places.input_biases) {
  if (way_ == InputProduct::given) return;
  weights_ = LayerWeights(
      request, places.input_weights,
      std::vector<StepPacking>(static_cast<size_t>(form.directions), packing_));
}

void LayerInputs::lay_out(Room& room, int64_t rows) {
  if (way_ == InputProduct::given) return;
  weights_.lay_out(room);
  constexpr int64_t kApart = 16;  // From a power of two.
  row_ = padded_units(form_.features, packing_.level) + kApart;
  gates_row_ = padded_units(columns(), packing_.level) + kApart;
  const bool ahead = way_ == InputProduct::ahead;
  inputs_ = room.add(ahead ? form_.features * kAheadTimes : rows * row_);
  gates_ = room.add(ahead ? 2 * kAheadTimes * gates_row_ : 0);
  bias_ = room.add(ahead ? gates_row_ : packing_.of_bias().floats());
}

void LayerInputs::set(const program::StepCall& call,
                      RecurrentTask& task) const {
  task.inputs.way = way_;
  if (way_ == InputProduct::given) {
    task.step.gates = task.gate_rows;
    return;
  }
  task.inputs.features = form_.features;
  task.inputs.element = task.gates_strides.element;
  task.inputs.inputs = reinterpret_cast<float*>(call.scratch) + inputs_;
  if (way_ == InputProduct::within) return set_within(call, task);
  set_ahead(call, task);
}

void LayerInputs::set_within(const program::StepCall& call,
                             RecurrentTask& task) const {
  task.inputs.row = row_;
  RecurrentStep& step = task.step;
  step.inputs = task.inputs.inputs;
  step.input_depth = form_.features, step.input_row = row_;
  step.input_packed = weights_.of(call, task.direction);
  if (!form_.input_biased) return;
  float* bias = reinterpret_cast<float*>(call.scratch) + bias_;
  packing_.of_bias().pack(bias_of(call, first_bias_ + task.direction), bias);
  step.input_bias = bias;
}

void LayerInputs::set_ahead(const program::StepCall& call,
                            RecurrentTask& task) const {
  auto* scratch = reinterpret_cast<float*>(call.scratch);
  task.inputs.gates = scratch + gates_;
  InputsAhead& ahead = task.inputs.ahead;
  ahead.packed = weights_.of(call, task.direction);
  ahead.inputs = task.inputs.inputs;
  ahead.gates_row = gates_row_, ahead.depth = form_.features;
  ahead.vectors = padded_units(columns(), packing_.level) /
                  padded_units(1, packing_.level);
  ahead.vector = ahead.vectors;  // Nothing is begun.
  ahead.each = form_.features > form_.width ? 2 : 1;
  task.step.ahead = &task.inputs.ahead;
  task.step.gates = task.gate_rows;
  if (!form_.input_biased) return;
  std::fill_n(scratch + bias_, gates_row_, 0.0f);
  std::copy_n(bias_of(call, first_bias_ + task.direction), columns(),
              scratch + bias_);
  ahead.bias = scratch + bias_;
}

}  // namespace fxjit::kernels
