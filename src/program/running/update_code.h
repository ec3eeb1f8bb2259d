// Steps that write memory of the caller's: they give written inputs their new
// values, a part of them in place or all of them at the end of a program.
#pragma once

#include <optional>

#include "src/program/running/eager_code.h"

namespace fxjit::program {

// Nothing for calls of which it is not known what they overwrite.
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
