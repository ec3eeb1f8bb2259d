// Packs a product's right-hand side while the program runs, where it is an
// activation and not a weight. Operands: the matrices, the packed result.
#pragma once

#include "fxjit/cpu_level.h"
#include "src/program/steps.h"

namespace fxjit::program {

class PackKernel : public ExternKernel {
 public:
  struct Matrix {
    int64_t batch = 1;
    int64_t batch_stride = 0;
    int64_t depth = 0;
    int64_t columns = 0;
    int64_t depth_stride = 0;
    int64_t column_stride = 0;
  };

  PackKernel(const Matrix& matrix, CpuLevel level);

  int64_t elements() const { return elements_; }  // Of one packed matrix.
  int64_t tasks() const override { return matrix_.batch; }
  void run(const KernelCall& call, int64_t begin, int64_t end) const override;
  std::string describe() const override;
  ComputedBy computed_by() const override { return ComputedBy::routine; }

 private:
  Matrix matrix_;
  int64_t width_;
  int64_t elements_;
};

}  // namespace fxjit::program
