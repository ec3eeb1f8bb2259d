// How a row step is cut into passes over the row: a reduction ends a pass, and
// what depends on it starts in the next. Values needed again in a later pass
// are either computed again or, when that is expensive, kept in a row buffer.
// Pure analysis; used by the code generator and by cost estimates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fxjit::program {

// Bytes behind each row buffer that may be written.
inline constexpr size_t kBufferSlack = 64;

struct RowStep;

struct RowSchedule {
  // Per instruction:
  std::vector<bool> varies;    // Differs along the row.
  std::vector<int32_t> level;  // Pass in which it is first known.
  std::vector<bool> buffered;  // Kept in a row buffer after its pass.

  // Per pass: what must be computed for its own sake (arguments of
  // reductions, results stored, values to buffer), in order of definition.
  struct Pass {
    std::vector<int32_t> reductions;
    std::vector<int32_t> stores;   // Positions in body.results, varying ones.
    std::vector<int32_t> buffers;  // Instruction ids.
  };
  std::vector<Pass> passes;
  // Positions in body.results that are constant along the row, stored once.
  std::vector<int32_t> row_stores;

  // Row buffers, in order, and where each begins in scratch. There is room for
  // a whole vector beyond the end of a row.
  std::vector<int32_t> buffer_ids;
  std::vector<size_t> buffer_offsets;
  size_t buffer_bytes = 0;  // All of them together.
};

// `inner_stride(slot)` is the stride of an input along the row; 0 means that
// the input is constant along it.
RowSchedule schedule_rows(const RowStep& step);

}  // namespace fxjit::program
