// The routine of RunTimePack.
#pragma once

#include "fxjit/cpu_level.h"
#include "src/program/steps/step_code.h"
#include "src/program/steps/steps.h"

namespace fxjit::program {

class PackCode : public ExternCode {
 public:
  PackCode(const RunTimePack& matrix, CpuLevel level);

  int64_t tasks() const override { return matrix_.batch; }
  void run(const StepCall& call, int64_t begin, int64_t end) const override;
  std::string describe() const override;
  ComputedBy computed_by() const override { return ComputedBy::routine; }

 private:
  void run_pairs(const StepCall& call, int64_t begin, int64_t end) const;

  RunTimePack matrix_;
  int64_t width_;
  int64_t elements_;  // Of one packed matrix.
};

}  // namespace fxjit::program
