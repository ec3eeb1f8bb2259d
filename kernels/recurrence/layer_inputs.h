// Chooses where a recurrent layer with inputs multiplies them by their weights
// (ops::InputProduct), and prepares what its tasks need for that.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/recurrence/layer_weights.h"
#include "kernels/recurrence/places.h"
#include "kernels/recurrence/task.h"

namespace fxjit::kernels {

class LayerInputs {
 public:
  // `form`, the layer that the call describes, must outlive the object.
  LayerInputs(const ops::Recurrence& form, StepWork work, const Places& places,
              const CallRequest& request, int threads);

  // Reserves working memory for tasks of up to `rows` sequences.
  void lay_out(Room& room, int64_t rows);
  bool holds(int64_t operand) const { return weights_.holds(operand); }
  // Sets the inputs and weights that `task` reads. Weights that are no
  // constants are packed into the task's working memory.
  void set(const program::StepCall& call, RecurrentTask& task) const;

 private:
  void set_within(const program::StepCall& call, RecurrentTask& task) const;
  void set_ahead(const program::StepCall& call, RecurrentTask& task) const;

  int64_t columns() const { return form_.gates() * form_.hidden; }

  ops::InputProduct way_;
  const ops::Recurrence& form_;
  StepPacking packing_;
  int64_t first_bias_;
  LayerWeights weights_;
  // In working memory.
  int64_t row_ = 0, gates_row_ = 0, inputs_ = 0, gates_ = 0, bias_ = 0;
};

}  // namespace fxjit::kernels
