// How an integer product runs: the loop over tasks that packs rows and calls
// the kernels.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "src/program/integers/row_packer.h"
#include "src/program/integers/step.h"
#include "src/weights/quads.h"

namespace fxjit::program {

// The scratch of a task, in bytes from its start.
struct IntegerScratch {
  IntegerScratch(const IntegerStep& step, int lanes);

  int64_t sums_row;  // In elements.
  // The packed rows come first, of tiles none; those that are gathered before,
  // of `row_bytes` each, are at `row_at`.
  int64_t row_at, row_bytes, starts_at, sums_at, bytes;
};

// Immutable once its kernels are set, and thread-safe then.
class IntegerRun {
 public:
  IntegerRun(const IntegerStep& step, CpuLevel level);

  const std::vector<IntegerForm>& forms() const { return forms_; }
  void set_code(std::span<const IntegerFn> code) {
    code_.assign(code.begin(), code.end());
  }

  void run(const StepCall& call, int64_t begin, int64_t end) const;

 private:
  struct Place {
    int64_t batch, row, rows, column, columns;
  };

  void find_pieces();
  Place place_of(int64_t task) const;
  const uint8_t* gathered(const uint8_t* from, uint8_t* row) const;
  // What a kernel reads; `stride` is of `tiles`.
  struct Rows {
    const uint8_t* first;
    int64_t stride;
  };

  Rows pack_rows(const StepCall& call, const Place& place, int vectors) const;
  RowPacker row_packer(int vectors) const;
  void gather_rows(const StepCall& call, std::span<const uint8_t*> rows) const;
  void place_operands(const StepCall& call, const Place& place,
                      TileOperand* operands) const;
  bool has_starts(int vectors) const;
  int64_t column_factor(int vectors) const;
  void run_task(const StepCall& call, const Place& place,
                TileOperand* operands) const;

  IntegerStep step_;  // Its depth and all strides in bytes.
  int lanes_;
  weights::QuadLayout layout_;
  IntegerScratch scratch_;
  QuadSums adds_;
  // Where the runs of the depth begin in a row of lhs.
  std::vector<int64_t> piece_offsets_;
  int64_t piece_ = 0;                 // Bytes of a run.
  std::vector<TileAccess> accesses_;  // Extras, then outputs; in bytes.
  std::vector<IntegerForm> forms_;    // By vectors of rows, less one.
  std::vector<IntegerFn> code_;
};

}  // namespace fxjit::program
