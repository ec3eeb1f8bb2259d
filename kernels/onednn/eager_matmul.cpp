// Products of the interpreter: oneDNN on the matrices as they lie, in slices
// over the shared thread pool.
#include <algorithm>
#include <array>
#include <atomic>

#include "fxjit/tensor.h"
#include "fxjit/thread_pool.h"
#include "kernels/onednn/eager.h"
#include "kernels/onednn/matmul_slices.h"
#include "kernels/onednn/runtime.h"
#include "kernels/thread_scratch.h"
#include "src/tensor/visit.h"

namespace fxjit::kernels::onednn {
namespace {

using ops::MatmulArgs;

// Below this many multiply-adds the plain loop is as fast as the hand-over.
constexpr double kSmallProduct = 2.0 * 16 * 16 * 16;

ShapeCache<Matmul>& product_cache() {
  static auto* shared = new ShapeCache<Matmul>(kMostMatmuls);
  return *shared;
}

std::shared_ptr<const Matmul> product_for(const MatmulShape& shape) {
  const ShapeKey key = shape.key();
  std::shared_ptr<const Matmul> found;
  if (product_cache().find(key, &found)) return found;
  if (!may_generate_code()) return nullptr;
  found = by_onednn([&] { return Matmul::make(shape); });
  product_cache().add(key, found);
  return found;
}

MatmulShape product_shape(const MatmulArgs& args) {
  return {args, args.bias != nullptr};
}

// --- Operands as oneDNN reads them. ---

struct Matrices {
  const void* data;
  int64_t batch, rows, columns;
  int64_t batch_stride, row_stride, column_stride;
};

// The elements in row-major order, converted; a batch stride of 0 stays.
Tensor gathered(const Matrices& m, DType from, DType to) {
  const int64_t batch = m.batch_stride == 0 ? 1 : m.batch;
  const int64_t last = (batch - 1) * m.batch_stride +
                       (m.rows - 1) * m.row_stride +
                       (m.columns - 1) * m.column_stride;
  auto storage = Storage::borrow(
      const_cast<void*>(m.data),
      static_cast<size_t>(last + 1) * dtype_size(from), nullptr, true);
  const Tensor view =
      Tensor::view(std::move(storage), {batch, m.rows, m.columns}, from,
                   {m.batch_stride, m.row_stride, m.column_stride}, 0);
  return view.to(to).contiguous();
}

Matrices a_of(const MatmulArgs& args) {
  return {args.a,       args.batch, args.rows,   args.depth,
          args.a_batch, args.a_row, args.a_depth};
}

Matrices b_of(const MatmulArgs& args) {
  return {args.b,       args.batch,   args.depth,   args.columns,
          args.b_batch, args.b_depth, args.b_column};
}

Tensor replace_a(MatmulArgs& args, DType dtype) {
  const Tensor a = gathered(a_of(args), args.dtype, dtype);
  args.a = a.data();
  args.a_batch = args.a_batch == 0 ? 0 : args.rows * args.depth;
  args.a_row = args.depth;
  args.a_depth = 1;
  return a;
}

Tensor replace_b(MatmulArgs& args, DType dtype) {
  const Tensor b = gathered(b_of(args), args.dtype, dtype);
  args.b = b.data();
  args.b_batch = args.b_batch == 0 ? 0 : args.depth * args.columns;
  args.b_depth = args.columns;
  args.b_column = 1;
  return b;
}

Tensor replace_bias(MatmulArgs& args, DType dtype) {
  const Matrices row{args.bias, 1, 1, args.columns, 0, 0, args.bias_stride};
  const Tensor bias = gathered(row, args.dtype, dtype);
  args.bias = bias.data();
  args.bias_stride = 1;
  return bias;
}

bool run_slice(const MatmulArgs& args, const MatmulSlice& slice,
               const Matmul& product) {
  const auto item = static_cast<int64_t>(dtype_size(args.dtype));
  const auto at = [&](const void* base, int64_t elements) {
    return static_cast<const std::byte*>(base) + elements * item;
  };
  return product.run(at(args.a, slice.a_offset()), at(args.b, slice.b_offset()),
                     args.bias ? at(args.bias, slice.column) : nullptr,
                     static_cast<std::byte*>(args.c) + slice.c_offset() * item,
                     thread_scratch(product.scratch_bytes()));
}

bool run_as_is(const MatmulArgs& args) {
  support::ThreadPool& pool = support::ThreadPool::shared();
  const std::vector<MatmulSlice> slices =
      cut_matmul(product_shape(args), pool.size());
  std::vector<std::shared_ptr<const Matmul>> products;
  for (const MatmulSlice& slice : slices) {
    products.push_back(product_for(slice.shape));
    if (!products.back()) return false;
  }
  std::atomic<bool> good = true;
  pool.parallel_for(
      static_cast<int64_t>(slices.size()),
      [&](int64_t begin, int64_t end, int) {
        for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end);
             ++i)
          if (!run_slice(args, slices[i], *products[i]))
            good.store(false, std::memory_order_relaxed);
      },
      static_cast<int>(slices.size()));
  return good;
}

// Half types that oneDNN does not compute here: in float, rounded once.
bool run_widened(MatmulArgs args) {
  const Tensor a = replace_a(args, DType::f32);
  const Tensor b = replace_b(args, DType::f32);
  const Tensor bias = args.bias ? replace_bias(args, DType::f32) : Tensor();
  auto storage = Storage::borrow(
      args.c,
      static_cast<size_t>((args.batch - 1) * args.c_batch +
                          (args.rows - 1) * args.c_row + args.columns) *
          dtype_size(args.dtype),
      nullptr);
  const Tensor out =
      Tensor::view(std::move(storage), {args.batch, args.rows, args.columns},
                   args.dtype, {args.c_batch, args.c_row, 1}, 0);
  const Tensor wide = Tensor::empty(out.sizes());
  args.dtype = DType::f32;
  args.c = wide.data();
  args.c_batch = args.rows * args.columns;
  args.c_row = args.columns;
  if (!run_as_is(args)) return false;
  out.copy_from(wide);
  return true;
}

bool has_negative_stride(const MatmulArgs& args) {
  const int64_t strides[] = {args.a_batch, args.a_row,   args.a_depth,
                             args.b_batch, args.b_depth, args.b_column,
                             args.c_batch, args.c_row,   args.bias_stride};
  return std::any_of(std::begin(strides), std::end(strides),
                     [](int64_t stride) { return stride < 0; });
}

}  // namespace

size_t matmuls_kept() { return product_cache().size(); }

bool eager_matmul(const MatmulArgs& given) {
  const bool half = given.dtype == DType::f16 || given.dtype == DType::bf16;
  if (given.dtype != DType::f32 && !half) return false;
  if (product_shape(given).flops() < kSmallProduct) return false;
  if (has_negative_stride(given)) return false;
  MatmulArgs args = given;
  std::array<Tensor, 3> kept;  // Copies live as long as the product.
  if (!product_shape(args).a_is_readable())
    kept[0] = replace_a(args, args.dtype);
  if (!product_shape(args).b_is_readable())
    kept[1] = replace_b(args, args.dtype);
  if (args.bias && args.bias_stride != 1 && args.columns > 1)
    kept[2] = replace_bias(args, args.dtype);
  return run_as_is(args) || (half && run_widened(given));
}

}  // namespace fxjit::kernels::onednn
