// A step that calls an op's eager kernel: what has no generated code runs this
// way, inside an otherwise compiled program. Not native: reports list it.
#pragma once

#include <vector>

#include "fxjit/op.h"
#include "src/program/steps.h"

namespace fxjit::program {

class EagerKernel : public ExternKernel {
 public:
  // `args` hold meta tensors, bound by position to operands in order of
  // appearance; operands for `results` follow.
  EagerKernel(const ops::Op& op, ValueList args, ValueList results);

  void run(const KernelCall& call, int64_t begin, int64_t end) const override;
  std::string describe() const override;
  bool native() const override { return false; }

 private:
  const ops::Op& op_;
  ValueList args_;
  ValueList results_;
};

}  // namespace fxjit::program
