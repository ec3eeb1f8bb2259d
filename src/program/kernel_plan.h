// How each kind of step is cut into tasks. The code generator and the runtime
// must agree on it, so both ask here.
#pragma once

#include <cstdint>

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

// Rows of a contraction are cut into blocks of about this many: small enough
// that a block of lhs stays in the second-level cache.
inline constexpr int64_t kRowBlock = 192;

// Number of such blocks; block i covers rows [i * rows / blocks,
// (i + 1) * rows / blocks).
int64_t row_blocks(const TileStep& step);
int64_t panels(const TileStep& step, const TileShape& tile);

// Queries handled together by one attention task.
int64_t query_block(CpuLevel level);
size_t attention_scratch(const AttentionStep& step, CpuLevel level);

KernelPlan kernel_plan(const StepBody& body, CpuLevel level);

}  // namespace fxjit::program
