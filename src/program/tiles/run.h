// How a contraction runs: which register-tile kernels it needs, and the loops
// over tasks, panels and tiles that call them. Kernels get all sizes as
// arguments, so that products of many sizes, and so programs of many shapes,
// share few of them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fxjit/cpu_level.h"
#include "src/program/steps/kernel_plan.h"
#include "src/program/steps/step_code.h"
#include "src/program/steps/steps.h"
#include "src/weights/panels.h"

namespace fxjit::program {

// The code of one tile: sums of `rows` rows by `vectors` vectors of each of
// `panels` panels over any depth, then the epilogue.
struct TileKernel {
  int rows = 1;
  int vectors = 1;
  // The last vector has TileCall::last_lanes lanes; so in all but full panels.
  bool masked = false;
  // Neighbouring panels computed together: single rows would otherwise stop and
  // start with every panel.
  int panels = 1;
  // Parts into which the depth is cut where few rows leave registers unused:
  // more independent sums, and as many streams of weights.
  int depth_parts = 1;
  bool prefetches = false;  // The panel that is read next.
  weights::Format weights = weights::Format::f32;
  DType lhs = DType::f32;
  DType sums = DType::f32;
  // The step's operands. `row` is 0 or 1 here, 1 standing for any stride, and
  // `batch` is 0.
  std::vector<TileAccess> extras;
  std::vector<TileAccess> outputs;
  ScalarBody epilogue;

  friend bool operator==(const TileKernel&, const TileKernel&) = default;
};

// Accesses as kernels know them, the strides being arguments: `row` 0 or 1,
// `batch` 0.
std::vector<TileAccess> without_sizes(std::vector<TileAccess> accesses);
std::string access_key(const std::vector<TileAccess>& accesses);

// Text that is equal for equal kernels.
std::string tile_kernel_key(const TileKernel& kernel);

struct TileOperand {
  std::byte* first;  // Of the first tile's first row and column.
  int64_t row;       // Bytes from row to row.
};

// A run of tiles, one below the other. Strides are in elements.
struct TileCall {
  const float* lhs;
  const void* weights;          // Of the panel.
  const TileOperand* operands;  // Extras, then outputs.
  int64_t first_tile;           // Number of the first within its block.
  int64_t tiles;
  int64_t depth;
  int64_t lhs_row;
  int64_t panel_bytes;  // From panel to panel.
  // A line of the next panel is fetched in 1 << fetch_shift steps of the depth.
  int64_t fetch_shift;
  int64_t last_lanes;
  // For the paired formats: the exponents of f28 by code, or the steps of this
  // panel's columns; and what is to be added to the sums, row by row.
  const void* table;
  const float* start;
};

constexpr int64_t kCacheLine = 64;

// So many tiles fetch the next panel if each fetches a line in every step of
// the depth.
constexpr int64_t fetching_tiles(int64_t panel_width) {
  return panel_width * 4 > kCacheLine ? panel_width * 4 / kCacheLine : 1;
}

using TileFn = void (*)(const TileCall* call);

// Immutable once its kernels are set, and thread-safe then.
class TileRun {
 public:
  TileRun(const TileStep& step, CpuLevel level);

  // What the step needs; set_kernel gives the code of kernels()[i].
  const std::vector<TileKernel>& kernels() const { return kernels_; }
  void set_kernel(size_t i, TileFn code) { code_[i] = code; }

  void run(const KernelCall& call, int64_t begin, int64_t end) const;

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
  };
  // Strides of an operand in bytes.
  struct Strides {
    int64_t batch, panel, row;
  };

  Cut cut(int64_t rows, int64_t columns);
  size_t kernel(int64_t rows, int64_t columns, int panels);
  int64_t fetch_shift(int64_t tiles) const;
  int depth_parts(int64_t sums) const;
  void run_panel(const KernelCall& call, int64_t task) const;
  // Tiles of one kernel, counted within their block.
  struct Tiles {
    size_t kernel;
    int64_t first, count, fetch_shift;
  };
  void run_tiles(const KernelCall& call, const Place& place,
                 const Tiles& tiles) const;
  void start_sums(const KernelCall& call, const Place& place,
                  const TileKernel& kernel, float* sums) const;
  void place_operands(const KernelCall& call, const Place& place,
                      TileOperand* operands) const;
  void add_strides(const std::vector<TileAccess>& accesses);
  const std::byte* table(const std::byte* packed, int64_t panel) const;

  TileStep step_;
  CpuLevel level_;
  weights::TileShape tile_;
  TileCut row_cut_;
  int64_t panels_, blocks_;
  bool repeatable_;
  int64_t full_panels_, panel_bytes_, header_bytes_;
  std::vector<TileKernel> kernels_;
  std::vector<TileFn> code_;
  // By whether the panel is a partial last one, and by block.
  std::array<std::vector<Cut>, 2> cuts_;
  std::vector<Strides> strides_;        // Of extras, then outputs.
  std::optional<size_t> group_kernel_;  // Of single rows, several panels.
};

// The KernelFn of tile steps: the call's data is a TileRun.
void run_tile_step(const KernelCall* call, int64_t begin, int64_t end);

}  // namespace fxjit::program
