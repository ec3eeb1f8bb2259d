#include <algorithm>

#include "kernels/pooling/pooling.h"
#include "kernels/routines.h"

namespace fxjit::kernels {
namespace {

constexpr double kElementsPerTask = 32 << 10;

// Operands: input, output. A task is a run of parts.
class PoolRoutine : public program::ExternCode {
 public:
  PoolRoutine(const ops::PoolParams& params, const Tensor& input)
      : pooling_(params, input),
        name_(params.average ? "average pooling" : "max pooling"),
        parts_per_task_(std::max<int64_t>(
            1, static_cast<int64_t>(kElementsPerTask /
                                    pooling_.elements_per_part()))) {}

  int64_t tasks() const override {
    return (pooling_.parts() + parts_per_task_ - 1) / parts_per_task_;
  }
  size_t scratch_bytes() const override { return pooling_.scratch_bytes(); }
  std::string describe() const override { return name_; }
  ComputedBy computed_by() const override { return ComputedBy::routine; }

  void run(const program::StepCall& call, int64_t begin,
           int64_t end) const override {
    pooling_.run(call.operands[0], call.operands[1], call.scratch,
                 begin * parts_per_task_,
                 std::min(end * parts_per_task_, pooling_.parts()));
  }

 private:
  const Pooling pooling_;
  const char* const name_;
  const int64_t parts_per_task_;
};

}  // namespace

std::shared_ptr<const program::ExternCode> make_pool_routine(
    const CallRequest& request) {
  const ops::OpCall call{request.op, request.args};
  return std::make_shared<PoolRoutine>(ops::pool_params(call), call.tensor(0));
}

}  // namespace fxjit::kernels
