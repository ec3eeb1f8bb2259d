// oneDNN in place of a generated tile loop, on the same operands.
#include <algorithm>
#include <array>

#include "kernels/onednn/call_codes.h"
#include "kernels/onednn/matmul_slices.h"
#include "src/weights/panels.h"

namespace fxjit::kernels::onednn {
namespace {

constexpr int64_t kPanel = 64;  // Columns of a panel at the avx512 level.

// An epilogue that oneDNN's post-ops can say: additions and gelu.
struct Epilogue {
  bool bias = false;  // The first addition is a row.
  std::vector<MatmulPostOp> post_ops;
  std::vector<int32_t> slots;  // Input slot of the bias, then of each addition.
};

bool append(const ops::PostOp& op, const program::TileStep& step,
            Epilogue& to) {
  if (op.kind == ops::PostKind::gelu) {
    to.post_ops.push_back({op.kind});
    return true;
  }
  if (op.kind != ops::PostKind::add) return false;
  const program::TileAccess& extra =
      step.extras[static_cast<size_t>(op.tensor)];
  if (extra.dtype != DType::f32 || extra.column != 1 || extra.row < 0)
    return false;
  if (extra.row == 0 && to.post_ops.empty() && !to.bias)
    to.bias = true;
  else
    to.post_ops.push_back({op.kind, extra.row});
  to.slots.push_back(op.tensor + 1);
  return true;
}

std::optional<Epilogue> epilogue_of(const program::TileStep& step) {
  const auto work = ops::post_ops_of(step.epilogue);
  if (!work) return std::nullopt;
  Epilogue made;
  for (const ops::PostOp& op : *work)
    if (!append(op, step, made)) return std::nullopt;
  return made;
}

class ProductOfPanels : public program::ExternCode {
 public:
  static std::shared_ptr<ProductOfPanels> make(const program::TileStep& step,
                                               const MatmulShape& shape,
                                               const Epilogue& epilogue,
                                               int threads) {
    std::shared_ptr<ProductOfPanels> made(new ProductOfPanels(step, epilogue));
    for (const MatmulSlice& slice :
         cut_matmul(shape, threads, CutFirst::rows)) {
      auto matmul =
          Matmul::make(slice.shape, Matmul::Weights::panels, epilogue.post_ops);
      if (!matmul || matmul->packed_bytes() != panel_bytes(slice.shape))
        return nullptr;
      made->scratch_bytes_ =
          std::max(made->scratch_bytes_, matmul->scratch_bytes());
      made->parts_.push_back({slice, std::move(matmul)});
    }
    return made;
  }

  int64_t tasks() const override { return static_cast<int64_t>(parts_.size()); }
  size_t scratch_bytes() const override { return scratch_bytes_; }
  std::string describe() const override {
    return "oneDNN product " + parts_.front().matmul->implementation();
  }
  ComputedBy computed_by() const override { return ComputedBy::library; }

  void run(const program::StepCall& call, int64_t begin,
           int64_t end) const override {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      if (!run_part(call, parts_[i])) *call.status = program::kFailed;
  }

 private:
  struct Part {
    MatmulSlice slice;
    std::shared_ptr<const Matmul> matmul;
  };

  static constexpr size_t kMostAdditions = 8;

  ProductOfPanels(const program::TileStep& step, Epilogue epilogue)
      : step_(step), epilogue_(std::move(epilogue)) {}

  static size_t panel_bytes(const MatmulShape& shape) {
    return sizeof(float) * static_cast<size_t>(weights::packed_elements(
                               shape.depth, shape.columns, kPanel));
  }

  bool run_part(const program::StepCall& call, const Part& part) const {
    const MatmulSlice& slice = part.slice;
    const auto at = [&](size_t operand, int64_t elements) {
      return static_cast<const float*>(call.operands[operand]) + elements;
    };
    std::array<const void*, kMostAdditions> extras;
    size_t count = 0;
    for (int32_t slot : epilogue_.slots) {
      const auto index = static_cast<size_t>(slot);
      const int64_t row = slice.row * step_.extras[index - 1].row;
      extras[count++] = at(index + 1, row + slice.column);
    }
    const std::span<const void* const> all(extras.data(), count);
    const int64_t panels = slice.column / kPanel;
    const float* c = at(2 + step_.extras.size(), slice.c_offset());
    return part.matmul->run(
        at(0, slice.a_offset()),
        at(1, panels * kPanel * weights::packed_depth(step_.depth)),
        epilogue_.bias ? all[0] : nullptr, const_cast<float*>(c), call.scratch,
        all.subspan(epilogue_.bias ? 1 : 0));
  }

  friend std::shared_ptr<const program::ExternCode>
  onednn::make_product_of_panels(const program::TileStep& step, int threads);

  program::TileStep step_;
  Epilogue epilogue_;
  std::vector<Part> parts_;
  size_t scratch_bytes_ = 0;
};

}  // namespace

std::shared_ptr<const program::ExternCode> make_product_of_panels(
    const program::TileStep& step, int threads) {
  if (step.strict || step.batch != 1 || step.outputs.size() != 1 ||
      step.rows == 0 || step.columns == 0 || step.depth == 0)
    return nullptr;
  const program::TileAccess& out = step.outputs[0];
  if (out.dtype != DType::f32 || out.column != 1) return nullptr;
  auto epilogue = epilogue_of(step);
  if (!epilogue || epilogue->slots.size() > ProductOfPanels::kMostAdditions)
    return nullptr;
  MatmulShape shape;
  shape.bias = epilogue->bias;
  shape.rows = step.rows;
  shape.columns = step.columns;
  shape.depth = step.depth;
  shape.a_row = step.lhs_row;
  shape.w_depth = step.columns;
  shape.c_row = out.row;
  // A residual is read in whole rows only, so columns cannot always be cut.
  if (auto kernel = ProductOfPanels::make(step, shape, *epilogue, threads))
    return kernel;
  return ProductOfPanels::make(step, shape, *epilogue, 1);
}

}  // namespace fxjit::kernels::onednn
