#include "jit/emit/tile_kernel.h"

#include <algorithm>

#include "jit/emit/kernel_function.h"
#include "jit/emit/tile_epilogue.h"
#include "src/program/kernel_plan.h"

namespace fxjit::jit {
namespace {

using program::TileAccess;
using program::TileStep;

// Sums that fit the registers of a level beside a panel row and a broadcast.
int max_sums(CpuLevel level) { return level == CpuLevel::avx512 ? 24 : 12; }
// Parts into which the depth is cut when few rows leave registers unused: more
// independent sums, and as many streams of weights.
constexpr int kMaxDepthParts = 4;

class TileKernel {
 public:
  TileKernel(VectorBuilder& b, const TileStep& step,
             const TileKernelShape& shape)
      : b_(b), step_(step), shape_(shape) {
    width_ = program::tile_shape(b.level()).width();
    panel_elements_ = program::packed_depth(step.depth) * width_;
    vectors_ = shape.vectors * shape.panels;
    parts_ = 1;
    while (!step.strict && parts_ * 2 <= kMaxDepthParts &&
           parts_ * 2 * shape.rows * vectors_ <= max_sums(b.level()) &&
           step.depth % (parts_ * 2 * kDepthStep) == 0)
      parts_ *= 2;
  }

  void emit() {
    epilogue(sums());
    b_.ret();
  }

 private:
  Value* lhs() { return b_.arg(0); }
  Value* panel() { return b_.arg(1); }
  Value* prefetch() { return b_.arg(2); }
  Value* extra(size_t i) { return b_.arg(static_cast<int>(3 + i)); }
  Value* output(size_t i) {
    return b_.arg(static_cast<int>(3 + step_.extras.size() + i));
  }

  int sum_count() const { return shape_.rows * vectors_; }

  // All sums, row by row.
  Values sums() {
    const int64_t part = step_.depth / parts_;
    const int64_t looped = part / kDepthStep * kDepthStep;
    Values carried(static_cast<size_t>(parts_ * sum_count()),
                   b_.splat_f32(0));
    carried = b_.loop(b_.i64(0), b_.i64(looped), b_.i64(kDepthStep), carried,
                      [&](Value* k, const Values& values) {
                        Values next = values;
                        fetch_ahead(k);
                        for (int step = 0; step < kDepthStep; ++step)
                          for (int p = 0; p < parts_; ++p)
                            accumulate(next, p, k, p * part + step);
                        return next;
                      });
    for (int64_t k = looped; k < part; ++k)
      for (int p = 0; p < parts_; ++p)
        accumulate(carried, p, b_.i64(0), p * part + k);
    return add_parts(carried);
  }

  Values add_parts(Values values) {
    for (int count = parts_; count > 1; count /= 2)
      for (int i = 0; i < count / 2 * sum_count(); ++i)
        values[i] = b_.add(values[i], values[i + count / 2 * sum_count()]);
    values.resize(static_cast<size_t>(sum_count()));
    return values;
  }

  // Adds the products of depth `k + fixed` to part `p`.
  void accumulate(Values& sums, int p, Value* k, int64_t fixed) {
    Value* row = b_.offset(panel(), b_.f32(),
                           b_.ir().CreateMul(k, b_.i64(width_)));
    row = b_.offset(row, b_.f32(), fixed * width_);
    Values weights;
    for (int v = 0; v < vectors_; ++v)
      weights.push_back(b_.load_raw(
          b_.vec(b_.f32()),
          b_.offset(row, b_.f32(),
                    v / shape_.vectors * panel_elements_ +
                        v % shape_.vectors * b_.lanes()),
          vector_alignment()));
    Value* column = b_.offset(lhs(), b_.f32(), k);
    for (int r = 0; r < shape_.rows; ++r) {
      Value* x = b_.load_broadcast(
          DType::f32, b_.offset(column, b_.f32(), r * step_.lhs_row + fixed));
      for (int v = 0; v < vectors_; ++v) {
        Value*& sum = sums[static_cast<size_t>(p * sum_count() +
                                               r * vectors_ + v)];
        sum = b_.fma(x, weights[static_cast<size_t>(v)], sum);
      }
    }
  }

  int vector_alignment() const { return b_.lanes() * 4; }

  void fetch_ahead(Value* k) {
    const int lines = prefetch_lines(step_, b_.level());
    if (lines == 0) return;
    Value* at = b_.offset_bytes(
        prefetch(),
        b_.ir().CreateMul(k, b_.i64(lines * kCacheLine / kDepthStep)));
    for (int i = 0; i < lines; ++i)
      b_.prefetch(b_.offset_bytes(at, int64_t{i} * kCacheLine), 2);
  }

  void epilogue(const Values& sums) {
    if (shape_.rows == 1 ||
        tile_epilogue_cost(step_.epilogue) <= kInlineEpilogueCost) {
      for (int r = 0; r < shape_.rows; ++r)
        finish_row(b_.i64(r), [&](int v) {
          return sums[static_cast<size_t>(r * vectors_ + v)];
        });
      return;
    }
    llvm::Type* vector = b_.vec(b_.f32());
    Value* kept = b_.stack_slot(llvm::ArrayType::get(vector, sums.size()));
    for (size_t i = 0; i < sums.size(); ++i)
      b_.store_raw(sums[i], b_.offset(kept, vector, static_cast<int64_t>(i)),
                   vector_alignment());
    b_.loop(b_.i64(0), b_.i64(shape_.rows), b_.i64(1), [&](Value* r) {
      Value* row = b_.offset(kept, vector,
                             b_.ir().CreateMul(r, b_.i64(shape_.vectors)));
      finish_row(r, [&](int v) {
        return b_.load_raw(vector, b_.offset(row, vector, v),
                           vector_alignment());
      });
    });
  }

  void finish_row(Value* row, const std::function<Value*(int)>& sum) {
    for (int v = 0; v < vectors_; ++v) {
      const bool partial = shape_.last_lanes && v == vectors_ - 1;
      Value* mask =
          partial ? b_.tail_mask(b_.i64(shape_.last_lanes)) : nullptr;
      finish_vector(row, v, sum(v), mask);
    }
  }

  Value* address(Value* base, const TileAccess& access, Value* row, int v) {
    llvm::Type* type = b_.memory_type(access.dtype);
    Value* at = b_.offset(base, type,
                          b_.ir().CreateMul(row, b_.i64(access.row)));
    return b_.offset(at, type, access.column * v * b_.lanes());
  }

  void finish_vector(Value* row, int v, Value* sum, Value* mask) {
    const TileEpilogue epilogue{
        step_.epilogue, step_.extras, step_.outputs,
        [&](size_t i) { return address(extra(i), step_.extras[i], row, v); },
        [&](size_t i) { return address(output(i), step_.outputs[i], row, v); }};
    emit_tile_epilogue(b_, epilogue, sum, mask);
  }

  VectorBuilder& b_;
  const TileStep& step_;
  TileKernelShape shape_;
  int64_t width_;
  int64_t panel_elements_;
  int vectors_;  // Of one row.
  int parts_;
};

}  // namespace

int64_t tiles_per_block(const TileStep& step, CpuLevel level) {
  const int64_t blocks = program::row_blocks(step);
  const int64_t rows = (step.rows + blocks - 1) / blocks;
  const int max_rows = program::tile_shape(level).max_rows;
  return (rows + max_rows - 1) / max_rows;
}

int prefetch_lines(const TileStep& step, CpuLevel level) {
  // A single tile leaves no time to fetch behind; then the hardware's own
  // prefetching of one stream does better.
  const int64_t tiles = tiles_per_block(step, level);
  if (tiles < 2 || step.rhs_batched) return 0;
  const int64_t width = program::tile_shape(level).width();
  const int64_t bytes = width * 4 * kDepthStep;
  const int64_t share = std::min<int64_t>(tiles, kPrefetchTiles) * kCacheLine;
  return static_cast<int>((bytes + share - 1) / share);
}

llvm::Function* make_tile_kernel(VectorBuilder& b, const TileStep& step,
                                 const TileKernelShape& shape,
                                 const std::string& name) {
  const size_t pointers = 3 + step.extras.size() + step.outputs.size();
  const std::vector<llvm::Type*> types(pointers, b.ptr());
  auto* type = llvm::FunctionType::get(
      llvm::Type::getVoidTy(b.context()), types, false);
  auto* function = llvm::Function::Create(
      type, llvm::GlobalValue::InternalLinkage, name, b.module());
  set_kernel_attributes(*function, b.level());
  function->addFnAttr(llvm::Attribute::NoInline);
  VectorBuilder inner(*function, b.level());
  TileKernel(inner, step, shape).emit();
  return function;
}

}  // namespace fxjit::jit
