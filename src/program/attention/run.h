// How attention runs: the loop over a step's tasks that calls its kernel.
#pragma once

#include <cstdint>

#include "src/program/attention/step.h"

namespace fxjit::program {

// Immutable once its code is set, and thread-safe then.
class AttentionRun {
 public:
  explicit AttentionRun(const AttentionStep& step);

  const AttentionForm& form() const { return form_; }
  void set_code(AttentionFn code) { code_ = code; }

  void run(const StepCall& call, int64_t begin, int64_t end) const;

 private:
  struct Place {
    int64_t outer, batch, head, block;
  };

  Place place_of(int64_t task) const;
  void advance(Place& place) const;
  void place_masks(const StepCall& call, const Place& place,
                   AttentionMaskCall* masks) const;

  AttentionStep step_;
  AttentionForm form_;
  AttentionFn code_ = nullptr;
};

// The KernelFn of attention steps: the call's data is an AttentionRun.
void run_attention_step(const StepCall* call, int64_t begin, int64_t end);

}  // namespace fxjit::program
