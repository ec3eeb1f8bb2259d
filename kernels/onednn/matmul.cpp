#include "kernels/onednn/matmul.h"

#include <array>
#include <cstring>

#include "kernels/onednn/descriptor.h"
#include "kernels/onednn/runtime.h"

namespace fxjit::kernels::onednn {
namespace {

// Matrices with a batch dim in front where there is a batch at all.
struct Operand {
  Dims sizes, strides;
};

Operand operand(const MatmulShape& shape, int64_t rows, int64_t columns,
                int64_t batch, int64_t row, int64_t column) {
  Operand result{{rows, columns}, {row, column}};
  if (shape.batch == 1) return result;
  result.sizes.insert(0, batch == 0 ? 1 : shape.batch);
  result.strides.insert(0, batch);
  return result;
}

MemoryDesc operand_desc(const MatmulShape& shape, const Operand& operand) {
  return describe(shape.dtype, operand.sizes, operand.strides);
}

Operand weights_operand(const MatmulShape& shape) {
  return operand(shape, shape.depth, shape.columns, shape.b_batch,
                 shape.b_depth, shape.b_column);
}

MemoryDesc weights_desc(const MatmulShape& shape, Matmul::Weights weights) {
  const Operand plain = weights_operand(shape);
  switch (weights) {
    case Matmul::Weights::as_they_lie:
      return operand_desc(shape, plain);
    case Matmul::Weights::packed:
      return describe(shape.dtype, plain.sizes, plain.strides, Order::any);
    case Matmul::Weights::panels:
      break;
  }
  dnnl_memory_desc_t made = nullptr;
  check(
      dnnl_memory_desc_create_with_tag(&made, 2, numbers(plain.sizes).data(),
                                       *data_type(shape.dtype), dnnl_BA16a64b),
      "describing panels");
  return MemoryDesc(made);
}

// A row or a matrix that is added to the product, with the batch dim.
MemoryDesc added_desc(const MatmulShape& shape, DType dtype,
                      int64_t row_stride) {
  Operand added{{row_stride == 0 ? 1 : shape.rows, shape.columns},
                {row_stride == 0 ? shape.columns : row_stride, 1}};
  if (shape.batch > 1) {
    added.sizes.insert(0, 1);
    added.strides.insert(0, added.sizes[1] * added.strides[1]);
  }
  return describe(dtype, added.sizes, added.strides);
}

// oneDNN 3.2 has no fast product of f16 with a bias, but one with an addition
// behind it, done in f32 all the same.
bool adds_bias_behind(const MatmulShape& shape) {
  return shape.bias && shape.dtype == DType::f16;
}

void append_addition(dnnl_post_ops_t chain, const MemoryDesc& added) {
  check(dnnl_post_ops_append_binary(chain, dnnl_binary_add, added.get()),
        "appending an addition");
}

Attributes attributes_of(const MatmulShape& shape,
                         std::span<const MatmulPostOp> post_ops) {
  Attributes attributes = user_scratchpad();
  if (post_ops.empty() && !adds_bias_behind(shape)) return attributes;
  dnnl_post_ops_t made = nullptr;
  check(dnnl_post_ops_create(&made), "making post-ops");
  const PostOps chain(made);
  if (adds_bias_behind(shape))
    append_addition(made, added_desc(shape, shape.dtype, 0));
  for (const MatmulPostOp& op : post_ops) {
    if (op.kind == MatmulPostOp::Kind::gelu)
      check(dnnl_post_ops_append_eltwise(made, dnnl_eltwise_gelu_erf, 0, 0),
            "appending a gelu");
    else
      append_addition(made, added_desc(shape, DType::f32, op.row_stride));
  }
  check(dnnl_primitive_attr_set_post_ops(attributes.get(), made),
        "setting post-ops");
  return attributes;
}

bool is_gathered(const MatmulShape& shape, Matmul::Weights weights) {
  return weights != Matmul::Weights::as_they_lie && shape.batch == 1 &&
         shape.rows > 1 && shape.c_row != shape.columns;
}

size_t dense_result_bytes(const MatmulShape& shape) {
  constexpr size_t kAlignment = 64;
  const size_t bytes =
      static_cast<size_t>(shape.rows * shape.columns) * dtype_size(shape.dtype);
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

bool is_readable(int64_t batch, int64_t rows, int64_t columns,
                 int64_t batch_stride, int64_t row, int64_t column) {
  const Dims sizes{rows, columns};
  const Dims strides = tidy_strides(sizes, {row, column});
  const int64_t extent = (rows - 1) * row + (columns - 1) * column + 1;
  return is_dense_view(sizes, strides) &&
         (strides[0] == 1 || strides[1] == 1) &&
         (batch == 1 || batch_stride == 0 || batch_stride >= extent);
}

}  // namespace

bool MatmulShape::a_is_readable() const {
  return is_readable(batch, rows, depth, a_batch, a_row, a_depth);
}

bool MatmulShape::b_is_readable() const {
  return is_readable(batch, depth, columns, b_batch, b_depth, b_column);
}

ShapeKey MatmulShape::key() const {
  return {static_cast<int64_t>(dtype),
          bias,
          batch,
          rows,
          columns,
          depth,
          a_batch,
          a_row,
          a_depth,
          b_batch,
          b_depth,
          b_column,
          c_batch,
          c_row};
}

double MatmulShape::flops() const {
  return 2.0 * static_cast<double>(batch) * static_cast<double>(rows) *
         static_cast<double>(columns) * static_cast<double>(depth);
}

std::shared_ptr<const Matmul> Matmul::make(
    const MatmulShape& shape, Weights weights,
    std::span<const MatmulPostOp> post_ops) {
  if (!data_type(shape.dtype)) return nullptr;
  const MemoryDesc a =
      operand_desc(shape, operand(shape, shape.rows, shape.depth, shape.a_batch,
                                  shape.a_row, shape.a_depth));
  const MemoryDesc w = weights_desc(shape, weights);
  const bool through_scratch = is_gathered(shape, weights);
  const int64_t c_row = through_scratch ? shape.columns : shape.c_row;
  const MemoryDesc c = operand_desc(
      shape,
      operand(shape, shape.rows, shape.columns, shape.c_batch, c_row, 1));
  MemoryDesc bias;
  const bool bias_behind = adds_bias_behind(shape);
  if (shape.bias && !bias_behind) bias = added_desc(shape, shape.dtype, 0);
  const Attributes attributes = attributes_of(shape, post_ops);
  SingleThread single;
  dnnl_primitive_desc_t made = nullptr;
  const dnnl_status_t status = dnnl_matmul_primitive_desc_create(
      &made, engine(), a.get(), w.get(), bias.get(), c.get(), attributes.get());
  if (status == dnnl_unimplemented) return nullptr;
  check(status, "describing a product");
  PrimitiveDesc desc(made);
  if (is_reference(desc.get())) return nullptr;
  std::vector<int> arguments = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
  const auto addition = [](size_t place) {
    return DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(place)) |
           DNNL_ARG_SRC_1;
  };
  if (shape.bias)
    arguments.push_back(bias_behind ? addition(0) : DNNL_ARG_BIAS);
  for (size_t i = 0; i < post_ops.size(); ++i)
    if (post_ops[i].kind == MatmulPostOp::Kind::add)
      arguments.push_back(addition(i + (bias_behind ? 1 : 0)));
  const size_t dense_bytes = through_scratch ? dense_result_bytes(shape) : 0;
  return std::shared_ptr<const Matmul>(
      new Matmul(shape, std::move(desc), std::move(arguments), dense_bytes));
}

Matmul::Matmul(const MatmulShape& shape, PrimitiveDesc desc,
               std::vector<int> arguments, size_t dense_bytes)
    : shape_(shape),
      primitive_(std::move(desc), std::move(arguments)),
      dense_bytes_(dense_bytes) {}

size_t Matmul::packed_bytes() const {
  return primitive_.bytes_of(DNNL_ARG_WEIGHTS);
}

void Matmul::pack(const void* weights, std::byte* packed) const {
  const MemoryDesc plain = operand_desc(shape_, weights_operand(shape_));
  reorder(plain.get(), weights, primitive_.desc_of(DNNL_ARG_WEIGHTS), packed);
}

bool Matmul::run(const void* a, const void* weights, const void* bias, void* c,
                 std::byte* scratch, std::span<const void* const> added) const {
  constexpr size_t kMostPointers = 16;
  std::array<void*, kMostPointers> pointers{const_cast<void*>(a),
                                            const_cast<void*>(weights), c};
  if (dense_bytes_) pointers[2] = scratch;
  size_t count = 3;
  if (shape_.bias) pointers[count++] = const_cast<void*>(bias);
  for (const void* matrix : added)
    pointers[count++] = const_cast<void*>(matrix);
  if (!primitive_.run({pointers.data(), count}, scratch + dense_bytes_))
    return false;
  if (dense_bytes_) spread_rows(scratch, static_cast<std::byte*>(c));
  return true;
}

void Matmul::spread_rows(const std::byte* dense, std::byte* c) const {
  const size_t item = dtype_size(shape_.dtype);
  const size_t row = static_cast<size_t>(shape_.columns) * item;
  const size_t step = static_cast<size_t>(shape_.c_row) * item;
  for (int64_t m = 0; m < shape_.rows; ++m, dense += row, c += step)
    std::memcpy(c, dense, row);
}

}  // namespace fxjit::kernels::onednn
