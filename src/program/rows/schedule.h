// How a row step is cut into passes over the row: a reduction ends a pass, and
// what depends on it starts in the next. Values needed again in a later pass
// are either computed again or, when that is expensive, kept in a row buffer.
// Pure analysis; used by the code generator and by cost estimates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/program/steps/fields.h"

namespace fxjit::program {

// Bytes behind each row buffer that may be written.
inline constexpr size_t kBufferSlack = 64;

struct RowStep;

struct RowSchedule {
  // Per instruction:
  std::vector<bool> varies;    // Differs along the row.
  std::vector<int32_t> level;  // Pass in which it is first known.
  std::vector<bool> buffered;  // Kept in a row buffer after its pass.
  // Of a softmax: an exponential of a number that is not above 0, or a maximum
  // of which NaN may be lost.
  std::vector<bool> softmax;

  // Per pass: what must be computed for its own sake (arguments of
  // reductions, results stored, values to buffer), in order of definition.
  struct Pass {
    std::vector<int32_t> reductions;
    std::vector<int32_t> stores;   // Positions in body.results, varying ones.
    std::vector<int32_t> buffers;  // Instruction ids.

    friend bool operator==(const Pass&, const Pass&) = default;
  };
  std::vector<Pass> passes;
  // Positions in body.results that are constant along the row, stored once.
  std::vector<int32_t> row_stores;

  // The values of an instruction, for later passes.
  struct Buffer {
    int32_t id = 0;
    size_t offset = 0;  // Where it begins in scratch.
    // The position in body.results of the output that holds its values until
    // the result replaces them, or -1: they are in scratch.
    int32_t result = -1;

    friend bool operator==(const Buffer&, const Buffer&) = default;
  };
  std::vector<Buffer> buffers;  // In order of definition.
  size_t buffer_bytes = 0;      // Of scratch, all of them together.
  // The last pass that reads inputs along the row.
  int32_t reads_until = 0;

  const Buffer& buffer_of(int32_t id) const;

  friend bool operator==(const RowSchedule&, const RowSchedule&) = default;
};

template <typename V>
void fields(Is<RowSchedule::Pass> auto& s, V& v) {
  v("reductions", s.reductions), v("stores", s.stores);
  v("buffers", s.buffers);
}
template <typename V>
void fields(Is<RowSchedule::Buffer> auto& s, V& v) {
  v("id", s.id), v("offset", s.offset), v("result", s.result);
}
template <typename V>
void fields(Is<RowSchedule> auto& s, V& v) {
  v("varies", s.varies), v("level", s.level), v("buffered", s.buffered);
  v("softmax", s.softmax);
  v("passes", s.passes), v("row_stores", s.row_stores);
  v("buffers", s.buffers), v("buffer_bytes", s.buffer_bytes);
  v("reads_until", s.reads_until);
}

RowSchedule schedule_rows(const RowStep& step);

// Moves row buffers to outputs of the same type that the last pass writes, if
// no input is read after the pass that fills the buffer: an input may lie in
// the output's place.
void keep_in_results(const RowStep& step, RowSchedule& schedule);

}  // namespace fxjit::program
