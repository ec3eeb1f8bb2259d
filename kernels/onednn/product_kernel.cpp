// Product steps of half types. Operands: the call's tensors in order, output.
#include <algorithm>

#include "kernels/onednn/descriptor.h"
#include "kernels/onednn/extern_kernels.h"
#include "kernels/onednn/matmul_slices.h"
#include "kernels/onednn/packed_weights.h"

namespace fxjit::kernels::onednn {
namespace {

// The call as a product, and which operand is which.
struct Product {
  MatmulShape shape;
  int a = 0, weights = 1, bias = -1, output = 2;
};

class ProductKernel : public program::ExternKernel {
 public:
  // `weight` is undefined unless it is a constant. See make_product_kernel.
  static std::shared_ptr<ProductKernel> make(const Product& product,
                                             const Tensor& weight,
                                             int threads) {
    std::shared_ptr<ProductKernel> made(new ProductKernel(product));
    const bool pack = weight.defined() && product.shape.batch == 1;
    for (const MatmulSlice& slice :
         cut_matmul(product.shape, threads, CutFirst::rows))
      if (!made->add(slice, pack ? weight : Tensor())) return nullptr;
    return made;
  }

  int64_t tasks() const override {
    return static_cast<int64_t>(slices_.size());
  }
  size_t scratch_bytes() const override { return scratch_bytes_; }
  std::string describe() const override {
    return "oneDNN product " + slices_.front().matmul->implementation();
  }
  bool native() const override { return true; }

  void run(const program::KernelCall& call, int64_t begin,
           int64_t end) const override {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end);
         ++i) {
      const Part& part = slices_[i];
      const auto at = [&](int operand, int64_t elements) {
        return static_cast<std::byte*>(call.operands[operand]) +
               elements * item_;
      };
      const MatmulSlice& slice = part.slice;
      const void* weights = part.packed
                                ? part.packed->data()
                                : at(product_.weights, slice.w_offset());
      const void* bias =
          product_.bias >= 0 ? at(product_.bias, slice.column) : nullptr;
      if (!part.matmul->run(at(product_.a, slice.a_offset()), weights, bias,
                            at(product_.output, slice.c_offset()),
                            call.scratch))
        *call.status = program::kFailed;
    }
  }

 private:
  struct Part {
    MatmulSlice slice;
    std::shared_ptr<const Matmul> matmul;
    std::shared_ptr<const PackedWeights> packed;
  };

  explicit ProductKernel(const Product& product)
      : product_(product),
        item_(static_cast<int64_t>(dtype_size(product.shape.dtype))) {}

  bool add(const MatmulSlice& slice, const Tensor& weight) {
    Part part{slice, nullptr, nullptr};
    part.matmul = Matmul::make(slice.shape, weight.defined()
                                                ? Matmul::Weights::packed
                                                : Matmul::Weights::as_they_lie);
    if (!part.matmul) return false;
    if (weight.defined()) {
      ShapeKey form = slice.shape.key();
      form.push_back(slice.w_offset());
      part.packed = PackedWeights::get(
          weight, form, part.matmul->packed_bytes(),
          [&](const void* from, std::byte* to) {
            part.matmul->pack(
                static_cast<const std::byte*>(from) + slice.w_offset() * item_,
                to);
          });
    }
    scratch_bytes_ = std::max(scratch_bytes_, part.matmul->scratch_bytes());
    slices_.push_back(std::move(part));
    return true;
  }

  Product product_;
  int64_t item_;
  std::vector<Part> slices_;
  size_t scratch_bytes_ = 0;
};

// Leading dims as one, at most two others kept; nothing when that is no view.
std::optional<Dims> merged_strides(const Tensor& t, const Dims& sizes) {
  return view_strides(t.sizes(), t.strides(), sizes);
}

// a [..., M, K] times b [K, N], of b's own strides.
std::optional<MatmulShape> rows_times_matrix(const Tensor& a, int64_t columns,
                                             int64_t b_depth,
                                             int64_t b_column) {
  MatmulShape shape;
  shape.dtype = a.dtype();
  shape.depth = a.size(-1);
  if (a.numel() == 0 || columns == 0) return std::nullopt;
  shape.rows = a.numel() / shape.depth;
  const auto strides = merged_strides(a, {shape.rows, shape.depth});
  if (!strides) return std::nullopt;
  shape.a_row = (*strides)[0];
  shape.a_depth = (*strides)[1];
  shape.columns = columns;
  shape.w_depth = b_depth;
  shape.w_column = b_column;
  shape.c_row = columns;
  return shape;
}

std::optional<MatmulShape> batch_product(const Tensor& a, const Tensor& b) {
  if (a.dim() != b.dim() || a.dim() < 3) return std::nullopt;
  for (int d = 0; d < a.dim() - 2; ++d)
    if (a.sizes()[d] != b.sizes()[d]) return std::nullopt;
  MatmulShape shape;
  shape.dtype = a.dtype();
  shape.rows = a.size(-2);
  shape.depth = a.size(-1);
  shape.columns = b.size(-1);
  if (a.numel() == 0 || b.numel() == 0) return std::nullopt;
  shape.batch = a.numel() / (shape.rows * shape.depth);
  const auto as = merged_strides(a, {shape.batch, shape.rows, shape.depth});
  const auto bs = merged_strides(b, {shape.batch, shape.depth, shape.columns});
  if (!as || !bs) return std::nullopt;
  shape.a_batch = (*as)[0], shape.a_row = (*as)[1], shape.a_depth = (*as)[2];
  shape.w_batch = (*bs)[0], shape.w_depth = (*bs)[1];
  shape.w_column = (*bs)[2];
  shape.c_row = shape.columns;
  shape.c_batch = shape.rows * shape.columns;
  return shape;
}

std::optional<MatmulShape> product_of(const Tensor& a, const Tensor& b) {
  if (a.dim() < 2 || b.dim() < 2) return std::nullopt;
  if (b.dim() > 2) return batch_product(a, b);
  return rows_times_matrix(a, b.size(1), b.stride(0), b.stride(1));
}

bool is_row_bias(const Tensor& bias, int64_t columns) {
  return bias.dim() == 1 && bias.numel() == columns && bias.is_contiguous();
}

std::optional<Product> linear_product(const ops::OpCall& call) {
  const Tensor &input = call.tensor(0), &weight = call.tensor(1);
  if (weight.dim() != 2) return std::nullopt;
  const auto shape = rows_times_matrix(input, weight.size(0), weight.stride(1),
                                       weight.stride(0));
  if (!shape) return std::nullopt;
  Product product{*shape};
  if (!call.has(2)) return product;
  if (!is_row_bias(call.tensor(2), shape->columns)) return std::nullopt;
  product.shape.bias = true;
  product.bias = 2, product.output = 3;
  return product;
}

std::optional<Product> addmm_product(const ops::OpCall& call) {
  const auto one = [&](const char* name) {
    return call.number(static_cast<size_t>(call.op.index_of(name))) == 1;
  };
  const auto shape = product_of(call.tensor(1), call.tensor(2));
  if (!shape || !one("beta") || !one("alpha") ||
      !is_row_bias(call.tensor(0), shape->columns))
    return std::nullopt;
  Product product{*shape, 1, 2, 0, 3};
  product.shape.bias = true;
  return product;
}

std::optional<Product> read_call(const ops::OpCall& call) {
  const std::string_view name = call.op.name();
  if (name == "linear") return linear_product(call);
  if (name == "addmm") return addmm_product(call);
  if (name != "matmul" && name != "mm" && name != "bmm") return std::nullopt;
  const auto shape = product_of(call.tensor(0), call.tensor(1));
  return shape ? std::optional(Product{*shape}) : std::nullopt;
}

bool is_readable(const MatmulShape& s) {
  const auto plain = [&](int64_t rows, int64_t columns, int64_t row,
                         int64_t column, int64_t batch) {
    const int64_t extent = (rows - 1) * row + (columns - 1) * column + 1;
    return is_plain_matrix(rows, columns, row, column) &&
           (s.batch == 1 || batch == 0 || batch >= extent);
  };
  return plain(s.rows, s.depth, s.a_row, s.a_depth, s.a_batch) &&
         plain(s.depth, s.columns, s.w_depth, s.w_column, s.w_batch);
}

}  // namespace

std::shared_ptr<const program::ExternKernel> make_product_kernel(
    const program::KernelRequest& request, int threads) {
  const auto product = read_call({request.op, request.args});
  if (!product || !request.results[0].as_tensor().is_contiguous() ||
      !is_readable(product->shape))
    return nullptr;
  return ProductKernel::make(
      *product, request.constants[static_cast<size_t>(product->weights)],
      threads);
}

}  // namespace fxjit::kernels::onednn
