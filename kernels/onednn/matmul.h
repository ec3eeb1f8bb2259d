// A product of matrices as one oneDNN primitive, for the interpreter and for
// compiled programs.
#pragma once

#include <memory>
#include <optional>

#include "fxjit/dtype.h"
#include "kernels/onednn/primitive.h"
#include "kernels/shape_cache.h"
#include "src/ops/eager/post_ops.h"

namespace fxjit::kernels::onednn {

// c[b, m, n] = sum_k a[b, m, k] * w[b, k, n] (+ bias[n]); strides in elements.
// A batch stride of 0 shares the matrix.
struct MatmulShape {
  DType dtype = DType::f32;  // Of everything.
  bool bias = false;
  int64_t batch = 1, rows = 0, columns = 0, depth = 0;
  int64_t a_batch = 0, a_row = 0, a_depth = 1;
  int64_t w_batch = 0, w_depth = 0, w_column = 1;
  int64_t c_batch = 0, c_row = 0;  // Columns are contiguous.

  ShapeKey key() const;
  double flops() const;
};

// What to do to the sum before it is stored, in this order.
struct MatmulPostOp {
  ops::PostKind kind = ops::PostKind::add;  // Or gelu.
  // Of the added f32 matrix [rows, columns]; 0 or more.
  int64_t row_stride = 0;
};

class Matmul {
 public:
  enum class Weights {
    as_they_lie,
    packed,  // In oneDNN's own form: pack() makes it.
    panels,  // Panels of 64 columns, see src/weights/panels.h; f32 only.
  };

  // Null when oneDNN has no fast implementation. Throws Failure.
  static std::shared_ptr<const Matmul> make(
      const MatmulShape& shape, Weights weights = Weights::as_they_lie,
      std::span<const MatmulPostOp> post_ops = {});

  size_t scratch_bytes() const {
    return dense_bytes_ + primitive_.scratch_bytes();
  }
  size_t packed_bytes() const;
  const std::string& implementation() const {
    return primitive_.implementation();
  }
  // From `weights` as the shape says to packed_bytes() bytes. Throws Failure.
  void pack(const void* weights, std::byte* packed) const;

  // `added` has one matrix per MatmulPostOp of kind add. See Primitive::run.
  bool run(const void* a, const void* weights, const void* bias, void* c,
           std::byte* scratch, std::span<const void* const> added = {}) const;

 private:
  Matmul(const MatmulShape& shape, PrimitiveDesc desc,
         std::vector<int> arguments, size_t dense_bytes);

  void spread_rows(const std::byte* dense, std::byte* c) const;

  MatmulShape shape_;
  Primitive primitive_;
  // oneDNN's best code writes rows that follow each other; where c's do not,
  // the result goes through this much scratch memory first.
  size_t dense_bytes_;
};

// Whether oneDNN reads a matrix of these strides: one of them 1, the other at
// least a line apart.
bool is_plain_matrix(int64_t rows, int64_t columns, int64_t row_stride,
                     int64_t column_stride);

}  // namespace fxjit::kernels::onednn
