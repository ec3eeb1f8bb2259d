// Product steps: of half types, and of generated tile loops, in whose place
// oneDNN computes on the same operands.
#include <algorithm>
#include <array>

#include "kernels/onednn/call_codes.h"
#include "kernels/onednn/matmul_slices.h"
#include "kernels/onednn/product_call.h"
#include "src/program/driver/primitive_code.h"
#include "src/weights/panels.h"

namespace fxjit::kernels::onednn {
namespace {

constexpr int64_t kPanel = 64;  // Columns of a panel at the avx512 level.

size_t panel_bytes(const MatmulShape& shape) {
  return sizeof(float) * static_cast<size_t>(weights::packed_elements(
                             shape.depth, shape.columns, kPanel));
}

class ProductCode : public program::PrimitiveCode {
 public:
  static constexpr int64_t kMostAdditions = 8;

  // Null where oneDNN has nothing fast for some slice, or other panels.
  static std::shared_ptr<ProductCode> make(const Product& product,
                                           Matmul::Weights weights,
                                           int threads) {
    std::shared_ptr<ProductCode> made(new ProductCode(product));
    const bool panels = weights == Matmul::Weights::panels;
    for (const MatmulSlice& slice :
         cut_matmul(product.shape, threads, CutFirst::rows)) {
      auto matmul = Matmul::make(slice.shape, weights, product.post_ops);
      if (!matmul ||
          (panels && matmul->packed_bytes() != panel_bytes(slice.shape)))
        return nullptr;
      made->scratch_bytes_ =
          std::max(made->scratch_bytes_, matmul->scratch_bytes());
      const int64_t first =
          panels ? slice.column * weights::packed_depth(slice.shape.depth)
                 : slice.b_offset();
      made->parts_.push_back({slice, std::move(matmul), first, nullptr});
    }
    return made;
  }

  // Packs the call's constant weights for the parts.
  void pack(const CallRequest& call) {
    for (Part& part : parts_) {
      ShapeKey form = part.slice.shape.key();
      form.push_back(part.weights);
      part.packed =
          call.packed(static_cast<size_t>(product_.weights),
                      {weights::Reader::product, std::move(form),
                       part.matmul->packed_bytes(),
                       [&](const void* from, std::byte* to) {
                         part.matmul->pack(static_cast<const std::byte*>(from) +
                                               part.weights * item_,
                                           to);
                       },
                       product_.shape.dtype == DType::f32});
    }
  }

  // The one part begins where the operands do.
  std::vector<program::PrimitiveArgument> arguments() const override {
    using program::PrimitiveArgument;
    if (parts_.size() != 1 || !parts_[0].matmul->alone()) return {};
    using Kind = PrimitiveArgument::Kind;
    std::vector<PrimitiveArgument> all = {{Kind::operand, product_.a}};
    if (const weights::Block& packed = parts_[0].packed)
      all.push_back({Kind::constant, -1, packed->data()});
    else
      all.push_back({Kind::operand, product_.weights});
    all.push_back({Kind::operand, product_.output});
    if (product_.bias >= 0) all.push_back({Kind::operand, product_.bias});
    for (const MatmulPostOp& op : product_.post_ops)
      if (op.kind == MatmulPostOp::Kind::add)
        all.push_back({Kind::operand, op.operand});
    all.push_back({Kind::scratch});
    return all;
  }
  std::unique_ptr<program::BoundPrimitive> bind() const override {
    return parts_[0].matmul->alone()->bind_for_driver();
  }

  int64_t tasks() const override { return static_cast<int64_t>(parts_.size()); }
  size_t scratch_bytes() const override { return scratch_bytes_; }
  std::string describe() const override {
    return "oneDNN product " + parts_.front().matmul->implementation();
  }
  ComputedBy computed_by() const override { return ComputedBy::library; }

  void run(const program::StepCall& call, int64_t begin,
           int64_t end) const override {
    for (int64_t i = begin; i < end; ++i)
      if (!run_part(call, parts_[static_cast<size_t>(i)]))
        *call.status = program::kFailed;
  }

 private:
  struct Part {
    MatmulSlice slice;
    std::shared_ptr<const Matmul> matmul;
    int64_t weights;  // Where those of the slice begin, in elements.
    weights::Block packed;
  };

  explicit ProductCode(const Product& product)
      : product_(product),
        item_(static_cast<int64_t>(dtype_size(product.shape.dtype))) {}

  bool run_part(const program::StepCall& call, const Part& part) const {
    const MatmulSlice& slice = part.slice;
    const auto at = [&](int operand, int64_t elements) {
      return static_cast<std::byte*>(call.operands[operand]) + elements * item_;
    };
    std::array<const void*, kMostAdditions> added;
    size_t count = 0;
    for (const MatmulPostOp& op : product_.post_ops)
      if (op.kind == MatmulPostOp::Kind::add)
        added[count++] =
            at(op.operand, slice.row * op.row_stride + slice.column);
    return part.matmul->run(
        at(product_.a, slice.a_offset()),
        part.packed ? part.packed->data() : at(product_.weights, part.weights),
        product_.bias >= 0 ? at(product_.bias, slice.column) : nullptr,
        at(product_.output, slice.c_offset()), call.scratch,
        {added.data(), count});
  }

  Product product_;
  int64_t item_;
  std::vector<Part> parts_;
  size_t scratch_bytes_ = 0;
};

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
      !product->shape.a_is_readable() || !product->shape.b_is_readable())
    return nullptr;
  const bool packs =
      product->shape.batch == 1 &&
      request.constants[static_cast<size_t>(product->weights)].defined();
  const auto made = ProductCode::make(
      *product, packs ? Matmul::Weights::packed : Matmul::Weights::as_they_lie,
      threads);
  if (made && packs) made->pack(request);
  return made;
}

std::shared_ptr<const program::ExternCode> make_product_of_panels(
    const program::TileStep& step, int threads) {
  const auto product = read_product(step);
  if (!product ||
      std::ranges::count(product->post_ops, MatmulPostOp::Kind::add,
                         &MatmulPostOp::kind) > ProductCode::kMostAdditions)
    return nullptr;
  // A residual is read in whole rows only, so columns cannot always be cut.
  if (auto code = ProductCode::make(*product, Matmul::Weights::panels, threads))
    return code;
  return ProductCode::make(*product, Matmul::Weights::panels, 1);
}

}  // namespace fxjit::kernels::onednn
