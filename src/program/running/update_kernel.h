// Steps that write memory of the caller's: they give written inputs their new
// values, a part of them in place or all of them at the end of a program.
#pragma once

#include <optional>

#include "src/program/running/eager_kernel.h"

namespace fxjit::program {

// Nothing for calls of which it is not known what they overwrite.
std::optional<UpdateSpec> update_spec(const ops::Op& op, const ValueList& args);

class UpdateKernel : public ExternKernel {
 public:
  explicit UpdateKernel(const UpdateSpec& spec);

  void run(const KernelCall& call, int64_t begin, int64_t end) const override;
  void undo(const KernelCall& call) const override;
  bool writes_inputs() const override { return true; }
  std::string describe() const override;
  ComputedBy computed_by() const override { return ComputedBy::routine; }

 private:
  ValueList arguments(const KernelCall& call) const;
  Tensor memory_for_old(const KernelCall& call) const;

  const ops::Op& op_;
  const ValueList args_;  // Tensors are meta.
  const Tensor overwritten_;
};

class WriteBackKernel : public ExternKernel {
 public:
  explicit WriteBackKernel(const WriteBack& spec)
      : value_(meta_of(spec.value)), input_(meta_of(spec.input)) {}

  void run(const KernelCall& call, int64_t begin, int64_t end) const override;
  bool writes_inputs() const override { return true; }
  std::string describe() const override { return "loops write back"; }
  ComputedBy computed_by() const override { return ComputedBy::routine; }

 private:
  const Tensor value_, input_;  // Meta.
};

}  // namespace fxjit::program
