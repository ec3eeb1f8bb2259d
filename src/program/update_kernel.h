// Steps that write memory of the caller's: they give written inputs their new
// values, a part of them in place or all of them at the end of a program.
#pragma once

#include "src/program/eager_kernel.h"

namespace fxjit::program {

// A call that copies its first argument but for some elements, with that
// argument's memory as its result: it touches only these elements. Operands: the
// tensors of the call, then memory for the elements that were there before.
class UpdateKernel : public ExternKernel {
 public:
  // Null for calls of which it is not known what they overwrite.
  static std::shared_ptr<const UpdateKernel> make(const ops::Op& op,
                                                  const ValueList& args);

  void run(const KernelCall& call, int64_t begin, int64_t end) const override;
  void undo(const KernelCall& call) const override;
  bool writes_inputs() const override { return true; }
  std::string describe() const override;
  ComputedBy computed_by() const override { return ComputedBy::routine; }

  // The elements that are overwritten, as a meta tensor.
  const Tensor& overwritten() const { return overwritten_; }

 private:
  UpdateKernel(const ops::Op& op, ValueList args, Tensor overwritten)
      : op_(op), args_(std::move(args)), overwritten_(std::move(overwritten)) {}

  ValueList arguments(const KernelCall& call) const;
  Tensor memory_for_old(const KernelCall& call) const;

  const ops::Op& op_;
  const ValueList args_;  // Tensors are meta.
  const Tensor overwritten_;
};

// Operands: the new value, the input.
class WriteBackKernel : public ExternKernel {
 public:
  WriteBackKernel(Tensor value, Tensor input)
      : value_(std::move(value)), input_(std::move(input)) {}

  void run(const KernelCall& call, int64_t begin, int64_t end) const override;
  bool writes_inputs() const override { return true; }
  std::string describe() const override { return "loops write back"; }
  ComputedBy computed_by() const override { return ComputedBy::routine; }

 private:
  const Tensor value_, input_;  // Meta.
};

}  // namespace fxjit::program
