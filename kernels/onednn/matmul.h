// A product of matrices as one oneDNN primitive, for the interpreter and for
// compiled programs.
#pragma once

#include <memory>
#include <optional>

#include "kernels/onednn/primitive.h"
#include "kernels/shape_cache.h"
#include "src/ops/eager/matmul.h"

namespace fxjit::kernels::onednn {

struct MatmulShape : ops::MatmulSizes {
  bool bias = false;

  // Whether oneDNN reads a (or b) with its strides: one stride of the matrix is
  // 1, the other at least the length of a line, and the batch stride is 0 or at
  // least a matrix.
  bool a_is_readable() const;
  bool b_is_readable() const;
  ShapeKey key() const;
  double flops() const;
};

// What to do to the sum before it is stored, in this order.
struct MatmulPostOp {
  enum class Kind : uint8_t { add, gelu };
  Kind kind = Kind::add;
  // The stride of the added f32 matrix [rows, columns]; 0 or more.
  int64_t row_stride = 0;
  int operand = -1;  // Where the caller has that matrix.
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
  // That which run() calls on its pointers: a, weights, c, bias if any, then
  // what is added. Null where it does more than that.
  const Primitive* alone() const {
    return dense_bytes_ == 0 ? &primitive_ : nullptr;
  }
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
  // oneDNN's best code writes rows that follow one another. If those of c do
  // not, the result goes through this many bytes of scratch first.
  size_t dense_bytes_;
};

}  // namespace fxjit::kernels::onednn
