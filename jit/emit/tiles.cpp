#include "jit/emit/tiles.h"

#include <algorithm>
#include <map>

#include "jit/emit/kernel_function.h"
#include "jit/emit/tile_kernel.h"
#include "src/program/kernel_plan.h"

namespace fxjit::jit {
namespace {

using program::TileAccess;
using program::TileStep;

class Tiles {
 public:
  Tiles(VectorBuilder& b, const TileStep& step)
      : b_(b),
        step_(step),
        tile_(program::tile_shape(b.level())),
        panels_(program::panels(step, tile_)),
        blocks_(program::row_blocks(step)),
        panel_elements_(program::packed_depth(step.depth) * tile_.width()) {}

  void emit() {
    const KernelArgs call(b_);
    const size_t operands = 2 + step_.extras.size() + step_.outputs.size();
    for (size_t i = 0; i < operands; ++i)
      operands_.push_back(call.operand(i));
    Value* begin = call.begin();
    if (groups_panels())
      for (int panels : {4, 2}) begin = emit_groups(begin, call.end(), panels);
    b_.loop(begin, call.end(), b_.i64(1),
            [&](Value* task) { emit_task(task); });
    b_.ret();
  }

 private:
  // One row of one matrix: its tasks are panels, and neighbours go together.
  bool groups_panels() const {
    return step_.rows == 1 && step_.batch == 1 && full_panels() >= 2;
  }
  int64_t full_panels() const { return step_.columns / tile_.width(); }

  // Whole groups of full panels from task `begin`; returns the first task left.
  Value* emit_groups(Value* begin, Value* end, int panels) {
    if (full_panels() < panels) return begin;
    TileKernelShape shape;
    shape.vectors = tile_.vectors;
    shape.panels = panels;
    llvm::Function* kernel = make_tile_kernel(
        b_, step_, shape,
        b_.function().getName().str() + "_" + std::to_string(panels));
    Value* stop = b_.ir().CreateBinaryIntrinsic(llvm::Intrinsic::smin, end,
                                                b_.i64(full_panels()));
    Value* none = b_.i64(0);
    Value* count = b_.ir().CreateSDiv(
        b_.ir().CreateBinaryIntrinsic(llvm::Intrinsic::smax,
                                      b_.sub(stop, begin), none),
        b_.i64(panels));
    Value* next =
        b_.add(begin, b_.ir().CreateMul(count, b_.i64(panels)));
    b_.loop(begin, next, b_.i64(panels),
            [&](Value* panel) { call(kernel, none, panel, none, none); });
    return next;
  }

  // Tasks are numbered batch by batch, panel by panel, block by block, so that
  // neighbours share a panel and follow its memory.
  void emit_task(Value* task) {
    auto& ir = b_.ir();
    Value* block = ir.CreateURem(task, b_.i64(blocks_));
    Value* rest = ir.CreateUDiv(task, b_.i64(blocks_));
    Value* panel = ir.CreateURem(rest, b_.i64(panels_));
    Value* batch = ir.CreateUDiv(rest, b_.i64(panels_));
    const int64_t last_columns =
        step_.columns - (panels_ - 1) * tile_.width();
    if (last_columns == tile_.width())
      return emit_blocks(batch, panel, block, tile_.width());
    Value* is_last = b_.eq(panel, b_.i64(panels_ - 1));
    b_.if_else(
        is_last,
        [&] {
          emit_blocks(batch, panel, block, last_columns);
          return Values{};
        },
        [&] {
          if (panels_ > 1) emit_blocks(batch, panel, block, tile_.width());
          return Values{};
        });
  }

  int64_t block_start(int64_t block) const {
    return block * step_.rows / blocks_;
  }

  // Blocks differ by at most one row, which may change the tiles' heights.
  void emit_blocks(Value* batch, Value* panel, Value* block,
                   int64_t columns) {
    auto& ir = b_.ir();
    Value* start = ir.CreateUDiv(
        ir.CreateMul(block, b_.i64(step_.rows)), b_.i64(blocks_));
    const int64_t small = step_.rows / blocks_;
    if (step_.rows % blocks_ == 0)
      return emit_tiles(batch, panel, start, small, columns);
    Value* end = ir.CreateUDiv(
        ir.CreateMul(b_.add(block, b_.i64(1)), b_.i64(step_.rows)),
        b_.i64(blocks_));
    b_.if_else(
        b_.eq(b_.sub(end, start), b_.i64(small)),
        [&] {
          emit_tiles(batch, panel, start, small, columns);
          return Values{};
        },
        [&] {
          emit_tiles(batch, panel, start, small + 1, columns);
          return Values{};
        });
  }

  // `rows` rows from `start`, cut into tiles of nearly equal height.
  void emit_tiles(Value* batch, Value* panel, Value* start, int64_t rows,
                  int64_t columns) {
    if (rows == 0) return;
    const int64_t tiles = (rows + tile_.max_rows - 1) / tile_.max_rows;
    const int64_t height = rows / tiles;
    const int64_t taller = rows % tiles;
    emit_run(batch, panel, start, 0, taller, height + 1, columns);
    emit_run(batch, panel, b_.add(start, b_.i64(taller * (height + 1))),
             taller, tiles, height, columns);
  }

  // Tiles [first, last) of a block, each `height` rows.
  void emit_run(Value* batch, Value* panel, Value* start, int64_t first,
                int64_t last, int64_t height, int64_t columns) {
    if (first == last) return;
    llvm::Function* kernel = kernel_for(height, columns);
    b_.loop(b_.i64(0), b_.i64(last - first), b_.i64(1), [&](Value* i) {
      Value* row = b_.add(start, b_.ir().CreateMul(i, b_.i64(height)));
      call(kernel, batch, panel, row, b_.add(i, b_.i64(first)));
    });
  }

  llvm::Function* kernel_for(int64_t height, int64_t columns) {
    llvm::Function*& known = kernels_[{height, columns}];
    if (known) return known;
    const int64_t lanes = tile_.lanes;
    TileKernelShape shape;
    shape.rows = static_cast<int>(height);
    shape.vectors = static_cast<int>((columns + lanes - 1) / lanes);
    shape.last_lanes = static_cast<int>(columns % lanes);
    known = make_tile_kernel(
        b_, step_, shape,
        b_.function().getName().str() + "_" + std::to_string(height) + "x" +
            std::to_string(columns));
    return known;
  }

  void call(llvm::Function* kernel, Value* batch, Value* panel, Value* row,
            Value* tile) {
    auto& ir = b_.ir();
    Values args;
    Value* lhs = b_.add(ir.CreateMul(batch, b_.i64(step_.lhs_batch)),
                        ir.CreateMul(row, b_.i64(step_.lhs_row)));
    args.push_back(b_.offset(operands_[0], b_.f32(), lhs));
    Value* matrix = step_.rhs_batched
                        ? ir.CreateMul(batch, b_.i64(panels_))
                        : b_.i64(0);
    Value* weights =
        b_.offset(operands_[1], b_.f32(),
                  ir.CreateMul(b_.add(matrix, panel),
                               b_.i64(panel_elements_)));
    args.push_back(weights);
    args.push_back(prefetch_address(weights, tile));
    for (size_t i = 0; i < step_.extras.size(); ++i)
      args.push_back(
          address(operands_[2 + i], step_.extras[i], batch, row, panel));
    for (size_t i = 0; i < step_.outputs.size(); ++i)
      args.push_back(address(operands_[2 + step_.extras.size() + i],
                             step_.outputs[i], batch, row, panel));
    ir.CreateCall(kernel, args);
  }

  // The first tiles fetch a share of the next panel each; the others touch the
  // panel they read anyway. Fetching behind the end is harmless.
  Value* prefetch_address(Value* weights, Value* tile) {
    const int lines = prefetch_lines(step_, b_.level());
    if (lines == 0) return weights;
    const int64_t share = step_.depth / kDepthStep * lines * 64;
    Value* next = b_.offset(weights, b_.f32(), panel_elements_);
    Value* at =
        b_.offset_bytes(next, b_.ir().CreateMul(tile, b_.i64(share)));
    return b_.select(b_.lt(tile, b_.i64(kPrefetchTiles)), at, weights);
  }

  Value* address(Value* base, const TileAccess& access, Value* batch,
                 Value* row, Value* panel) {
    auto& ir = b_.ir();
    Value* elements =
        b_.add(ir.CreateMul(batch, b_.i64(access.batch)),
               ir.CreateMul(row, b_.i64(access.row)));
    if (access.column)
      elements =
          b_.add(elements, ir.CreateMul(panel, b_.i64(tile_.width())));
    return b_.offset(base, b_.memory_type(access.dtype), elements);
  }

  VectorBuilder& b_;
  const TileStep& step_;
  program::TileShape tile_;
  int64_t panels_;
  int64_t blocks_;
  int64_t panel_elements_;
  Values operands_;
  std::map<std::pair<int64_t, int64_t>, llvm::Function*> kernels_;
};

}  // namespace

void emit_tiles(VectorBuilder& b, const TileStep& step) {
  Tiles(b, step).emit();
}

}  // namespace fxjit::jit
