// The product with the inputs as a part of a recurrent layer: which way its
// steps come by it, and what a task needs for that.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/recurrence/layer_weights.h"
#include "kernels/recurrence/places.h"
#include "kernels/recurrence/task.h"

namespace fxjit::kernels {

class LayerInputs {
 public:
  // `form` must outlive the object.
  LayerInputs(const ops::Recurrence& form, StepWork work, const Places& places,
              const CallRequest& request, int threads);

  // For tasks of up to `rows` sequences.
  void lay_out(Room& room, int64_t rows);
  bool holds(int64_t operand) const { return weights_.holds(operand); }
  // Sets what `task` reads, and packs what the call gives.
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
