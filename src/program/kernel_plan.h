// How each kind of step is cut into tasks. The code generator and the runtime
// must agree on it, so both ask here.
#pragma once

#include <cstdint>
#include <vector>

#include "fxjit/cpu_level.h"
#include "src/program/packing.h"
#include "src/program/steps.h"

namespace fxjit::program {

// A row step without outer dims and reductions: the row is cut into chunks of
// this many elements, a multiple of every vector width.
inline constexpr int64_t kFlatChunk = 2048;
bool is_flat(const RowStep& step);

// Elements of `inner` that one column task covers.
int64_t column_block(const ColumnStep& step, CpuLevel level);

// How a contraction is cut: a task is a panel of columns of a block of rows.
struct TileCut {
  // Tasks are numbered block by block, so that a block's lhs and results stay
  // in a cache and threads keep to their own rows from step to step; otherwise
  // panel by panel, which reads the weights once.
  bool rows_first = false;
  std::vector<int64_t> starts;  // First row of each block, then all rows.
  int64_t blocks() const { return static_cast<int64_t>(starts.size()) - 1; }
};
TileCut tile_cut(const TileStep& step, const TileShape& tile);
int64_t panels(const TileStep& step, const TileShape& tile);

// How an attention step is cut and what lies in a thread's scratch. A task is
// one block of queries of one head.
struct AttentionShape {
  int64_t block = 0;       // Queries of a task, whole vectors.
  int64_t key_blocks = 0;  // Scores of one key block are held at a time.
  int64_t key_block = 0;   // Keys of the longest; block i starts at key
                           // i * keys / key_blocks.
  int64_t key_tile = 0;    // Keys whose scores are summed side by side.
  bool few = false;        // Keys in lanes: a task is a head, scores are
  int64_t scores_row = 0;  // [block][scores_row], maxima and factors a vector
                           // per query; there is nothing else in scratch.
  // Scratch regions, in floats from its start.
  int64_t queries_at = 0;  // [depth][block], scaled
  int64_t scores_at = 0;   // [key_block][block], after key_tile rows of waste.
  int64_t maxima_at = 0;   // [block], of the scores so far
  int64_t totals_at = 0;   // [block], sums of exponentials so far
  int64_t factors_at = 0;  // [block], what the sums are multiplied with
  int64_t sums_at = 0;     // [block][sums_row]; none with one key block.
  int64_t sums_row = 0;    // Value depth rounded up to whole vectors.
  int64_t total = 0;
};
AttentionShape attention_shape(const AttentionStep& step, CpuLevel level);
int64_t query_blocks(const AttentionStep& step, const AttentionShape& shape);
// Whether a mask differs between queries; else each is one number per key.
bool mask_by_query(const AttentionStep& step);

KernelPlan kernel_plan(const StepBody& body, CpuLevel level);

}  // namespace fxjit::program
