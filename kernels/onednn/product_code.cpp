// Product steps of half types. Operands: the call's tensors in order, output.
#include <algorithm>

#include "kernels/onednn/call_codes.h"
#include "kernels/onednn/descriptor.h"
#include "kernels/onednn/matmul_slices.h"
#include "kernels/onednn/product_call.h"

namespace fxjit::kernels::onednn {
namespace {

class ProductCode : public program::ExternCode {
 public:
  // See make_product_code.
  static std::shared_ptr<ProductCode> make(const Product& product,
                                           const CallRequest& call,
                                           int threads) {
    std::shared_ptr<ProductCode> made(new ProductCode(product));
    for (const MatmulSlice& slice :
         cut_matmul(product.shape, threads, CutFirst::rows))
      if (!made->add(slice, call)) return nullptr;
    return made;
  }

  int64_t tasks() const override {
    return static_cast<int64_t>(slices_.size());
  }
  size_t scratch_bytes() const override { return scratch_bytes_; }
  std::string describe() const override {
    return "oneDNN product " + slices_.front().matmul->implementation();
  }
  ComputedBy computed_by() const override { return ComputedBy::library; }

  void run(const program::StepCall& call, int64_t begin,
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
    weights::Block packed;
  };

  explicit ProductCode(const Product& product)
      : product_(product),
        item_(static_cast<int64_t>(dtype_size(product.shape.dtype))) {}

  bool add(const MatmulSlice& slice, const CallRequest& call) {
    Part part{slice, nullptr, nullptr};
    const auto weight = static_cast<size_t>(product_.weights);
    const bool packs =
        product_.shape.batch == 1 && call.constants[weight].defined();
    part.matmul =
        Matmul::make(slice.shape, packs ? Matmul::Weights::packed
                                        : Matmul::Weights::as_they_lie);
    if (!part.matmul) return false;
    if (packs) {
      ShapeKey form = slice.shape.key();
      form.push_back(slice.w_offset());
      part.packed = call.packed(
          weight,
          {weights::Reader::product, std::move(form),
           part.matmul->packed_bytes(), [&](const void* from, std::byte* to) {
             part.matmul->pack(
                 static_cast<const std::byte*>(from) + slice.w_offset() * item_,
                 to);
           },
           product_.shape.dtype == DType::f32});
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

passes::FastHalves fast_halves() {
  const bool avx512 = host_cpu_level() == CpuLevel::avx512;
  return {.f16 = false,
          .bf16 = avx512 && __builtin_cpu_supports("avx512bf16") != 0};
}

std::shared_ptr<const program::ExternCode> make_product_code(
    const CallRequest& request, int threads) {
  const auto product = read_product({request.op, request.args});
  if (!product || !request.results[0].as_tensor().is_contiguous() ||
      !is_readable(product->shape))
    return nullptr;
  return ProductCode::make(*product, request, threads);
}

}  // namespace fxjit::kernels::onednn
