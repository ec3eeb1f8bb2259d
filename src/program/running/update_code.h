// The code of steps that write memory of the caller: they give written inputs
// their new values, in place for some elements, or by a copy of all at the end
// of a program.
#pragma once

#include <optional>

#include "src/program/running/eager_code.h"

namespace fxjit::program {

// The specification of an update in place; none for calls of which it is
// unknown what they overwrite.
std::optional<UpdateSpec> update_spec(const ops::Op& op, const ValueList& args);

class UpdateCode : public ExternCode {
 public:
  explicit UpdateCode(const UpdateSpec& spec);

  void run(const StepCall& call, int64_t begin, int64_t end) const override;
  void undo(const StepCall& call) const override;
  bool writes_inputs() const override { return true; }
  std::string describe() const override;
  ComputedBy computed_by() const override { return ComputedBy::routine; }

 private:
  const ops::Op& op_;
  const ValueList args_;  // Tensors are meta.
  const Tensor overwritten_;
};

class WriteBackCode : public ExternCode {
 public:
  explicit WriteBackCode(const WriteBack& spec)
      : value_(meta_of(spec.value)), input_(meta_of(spec.input)) {}

  void run(const StepCall& call, int64_t begin, int64_t end) const override;
  bool writes_inputs() const override { return true; }
  std::string describe() const override { return "loops write back"; }
  ComputedBy computed_by() const override { return ComputedBy::routine; }

 private:
  const Tensor value_, input_;  // Meta.
};

}  // namespace fxjit::program
