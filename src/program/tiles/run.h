// How a contraction runs: which register-tile kernels it needs, and the loops
// over tasks, panels and tiles that call them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fxjit/cpu_level.h"
#include "src/program/steps/step_code.h"
#include "src/program/tiles/step.h"
#include "src/weights/panels.h"

namespace fxjit::program {

// Immutable once its kernels are set, and thread-safe then.
class TileRun {
 public:
  TileRun(const TileStep& step, CpuLevel level);

  // What the step needs, and the code of each.
  const std::vector<TileForm>& forms() const { return forms_; }
  void set_code(std::span<const TileFn> code) {
    code_.assign(code.begin(), code.end());
  }

  void run(const StepCall& call, int64_t begin, int64_t end) const;

 private:
  // A block of rows is cut into tiles of nearly equal height.
  struct Cut {
    int64_t tall = 0, low = 0;  // How many of height + 1 and of height.
    int64_t height = 0;
    // Rows that the last tile shares with the one before, of the low ones.
    int64_t again = 0;
    size_t tall_kernel = 0, low_kernel = 0;
    int64_t fetch_shift = 0;  // See TileCall.
  };
  struct Place {
    int64_t batch, panel, row;
    int64_t first_row;         // Of its block.
    const std::byte* weights;  // Of the panel.
  };
  // Strides of an operand in bytes.
  struct Strides {
    int64_t batch, panel, row;
  };

  Cut cut(int64_t rows, int64_t columns);
  size_t kernel(int64_t rows, int64_t columns, int panels);
  size_t number_of(TileForm wanted);
  int64_t last_lanes() const { return (step_.columns - 1) % tile_.lanes + 1; }
  const std::byte* packed_panel(const StepCall& call, int64_t matrix,
                                int64_t panel) const;
  int64_t fetch_shift(int64_t tiles) const;
  int depth_parts(int64_t sums) const;
  size_t packing_kernel(int64_t columns);
  size_t decoding_kernel();
  struct Task {
    int64_t matrix, panel;
    size_t block;
  };
  Task task(int64_t number) const;
  void run_panel(const StepCall& call, int64_t number) const;
  void run_windows(const StepCall& call, int64_t begin, int64_t end) const;
  void run_packing(const StepCall& call, int64_t begin, int64_t end) const;
  void make_group(const StepCall& call, int64_t matrix, int64_t panel) const;
  void pack_group(const StepCall& call, int64_t matrix, int64_t panel,
                  int64_t count) const;
  // The tiles of a block of rows of one panel, whose packed columns are at
  // `weights`.
  void run_block(const StepCall& call, int64_t matrix, int64_t panel,
                 size_t block, const std::byte* weights) const;
  // Tiles of one kernel, counted within their block.
  struct Tiles {
    size_t kernel;
    int64_t first, count, fetch_shift;
  };
  void run_tiles(const StepCall& call, const Place& place,
                 const Tiles& tiles) const;
  void start_sums(const StepCall& call, const Place& place,
                  const TileForm& form, float* sums) const;
  void place_operands(const StepCall& call, const Place& place,
                      TileOperand* operands) const;
  void add_strides(const std::vector<TileAccess>& accesses);
  const std::byte* table(const std::byte* packed, int64_t panel) const;

  TileStep step_;
  CpuLevel level_;
  weights::RegisterTile tile_;
  int64_t panels_, blocks_;
  bool repeatable_;
  int64_t taps_;
  std::vector<float> outside_;  // Zeros, for taps outside the image.
  int64_t full_panels_, panel_bytes_, header_bytes_;
  int64_t made_bytes_;  // Of a panel that a task makes.
  std::vector<TileForm> forms_;
  std::vector<TileFn> code_;
  // By whether the panel is a partial last one, and by block.
  std::array<std::vector<Cut>, 2> cuts_;
  std::vector<Strides> strides_;        // Of extras, then outputs.
  std::optional<size_t> group_kernel_;  // Of single rows, several panels:
  int64_t group_panels_ = 0;            // so many.
  // That make full panels and a partial last one.
  std::array<size_t, 2> packing_kernels_{};
};

// The KernelFn of tile steps: the call's data is a TileRun.
void run_tile_step(const StepCall* call, int64_t begin, int64_t end);

}  // namespace fxjit::program
