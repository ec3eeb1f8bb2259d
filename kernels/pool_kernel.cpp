#include "kernels/pool_kernel.h"

#include <algorithm>

#include "kernels/pooling.h"
#include "kernels/pooling_last.h"
#include "src/passes/lower_pool.h"

namespace fxjit::kernels {
namespace {

// Operands: input, output. A task is a run of parts.
class PoolKernel : public program::ExternKernel {
 public:
  PoolKernel(const ops::PoolParams& params, const Tensor& input)
      : pooling_(params, input), average_(params.average) {
    constexpr double kElementsPerTask = 32 << 10;
    parts_per_task_ = std::max<int64_t>(
        1,
        static_cast<int64_t>(kElementsPerTask / pooling_.elements_per_part()));
  }

  int64_t tasks() const override {
    return (pooling_.parts() + parts_per_task_ - 1) / parts_per_task_;
  }
  size_t scratch_bytes() const override { return pooling_.scratch_bytes(); }
  std::string describe() const override {
    return average_ ? "average pooling" : "max pooling";
  }
  bool native() const override { return true; }

  void run(const program::KernelCall& call, int64_t begin,
           int64_t end) const override {
    pooling_.run(call.operands[0], call.operands[1], call.scratch,
                 begin * parts_per_task_,
                 std::min(end * parts_per_task_, pooling_.parts()));
  }

 private:
  Pooling pooling_;
  bool average_;
  int64_t parts_per_task_;
};

// Operands: input, output. A task is a run of rows.
class PoolLastKernel : public program::ExternKernel {
 public:
  PoolLastKernel(const ops::PoolParams& params, const Tensor& input)
      : pooling_(params, input), average_(params.average) {
    constexpr double kElementsPerTask = 64 << 10;
    rows_per_task_ = std::max<int64_t>(
        1,
        static_cast<int64_t>(kElementsPerTask / pooling_.elements_per_row()));
  }

  int64_t tasks() const override {
    return (pooling_.rows() + rows_per_task_ - 1) / rows_per_task_;
  }
  std::string describe() const override {
    return average_ ? "average pooling, channels last"
                    : "max pooling, channels last";
  }
  bool native() const override { return true; }

  void run(const program::KernelCall& call, int64_t begin,
           int64_t end) const override {
    pooling_.run(static_cast<const float*>(call.operands[0]),
                 static_cast<float*>(call.operands[1]), begin * rows_per_task_,
                 std::min(end * rows_per_task_, pooling_.rows()));
  }

 private:
  PoolingLast pooling_;
  bool average_;
  int64_t rows_per_task_;
};

}  // namespace

std::shared_ptr<const program::ExternKernel> make_pool_kernel(
    const program::KernelRequest& request) {
  const ops::OpCall call{request.op, request.args};
  if (&request.op == &passes::pool_last_op()) {
    if (call.tensor(0).strides()[1] != 1) return nullptr;
    return std::make_shared<PoolLastKernel>(passes::pool_last_params(call),
                                            call.tensor(0));
  }
  const ops::PoolParams params = ops::pool_params(call);
  if (!Pooling::supports(params, call.tensor(0)) ||
      !request.results[0].as_tensor().is_contiguous())
    return nullptr;
  return std::make_shared<PoolKernel>(params, call.tensor(0));
}

}  // namespace fxjit::kernels
