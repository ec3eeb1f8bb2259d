// The code of a step that calls an op's eager function. Ops without generated
// code so run inside of an otherwise compiled program. Reports list the step as
// not native, unless the function is a direct one, which writes its results in
// place.
#pragma once

#include <vector>

#include "fxjit/op.h"
#include "src/program/steps/step_code.h"
#include "src/program/steps/steps.h"

namespace fxjit::program {

// A tensor over memory of the call, without owning it. It must not outlive the
// call.
Tensor borrow(void* first, const Tensor& val);

// The arguments of a call over its operands, of which `used` were tensors.
ValueList borrow_args(const StepCall& call, const ValueList& args,
                      size_t& used);

// Runs what may refuse values. The shapes were right when this was planned:
// what is wrong are the values.
template <typename Fn>
auto refusing_values(const Fn& run) {
  try {
    return run();
  } catch (const UserError& error) {
    throw ValueFailure(error.message());
  } catch (const RuntimeError& error) {
    throw ValueFailure(error.message());
  }
}

class EagerCode : public ExternCode {
 public:
  explicit EagerCode(const CallSpec& call);

  void run(const StepCall& call, int64_t begin, int64_t end) const override;
  std::string describe() const override;
  ComputedBy computed_by() const override {
    return op_.row.direct ? ComputedBy::routine : ComputedBy::eager;
  }

 private:
  void run_direct(const StepCall& call, size_t operand,
                  const ValueList& args) const;
  Value compute(const ValueList& args) const;

  const ops::Op& op_;
  ValueList args_;
  ValueList results_;
};

}  // namespace fxjit::program
