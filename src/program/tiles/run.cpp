#include "src/program/tiles/run.h"

#include <algorithm>

#include "fxjit/error.h"

namespace fxjit::program {
namespace {

constexpr int kMaxDepthParts = 4;
constexpr int kPanelGroup = 4;
// Height of narrow tiles, so that there are enough sums to hide the latency of
// one addition.
constexpr int64_t kNarrowRows = 8;
constexpr size_t kFewOperands = 16;
// Most sums, in floats, of a tile whose weights have outliers.
constexpr int64_t kMostStart = 32 * 16;
// One row in this many may be computed twice, so that all tiles have one height
// and need one kernel.
constexpr int64_t kRowsPerRepeated = 32;
// Independent sums that hide the latency of a multiply-add.
constexpr int64_t kEnoughSums = 8;

// Whether a row may be computed twice. It may not if a result may share memory
// with an extra operand that has rows.
bool is_repeatable(const TileStep& step) {
  return std::all_of(step.extras.begin(), step.extras.end(),
                     [](const TileAccess& access) { return access.row == 0; });
}

// Vectors of sums that fit the registers of a level, beside a row of the panel
// and a broadcast number.
int64_t max_sums(CpuLevel level) { return level == CpuLevel::avx512 ? 24 : 12; }

int64_t max_rows(const weights::TileShape& tile, int64_t vectors,
                 CpuLevel level) {
  return kNarrowRows * vectors <= max_sums(level) ? kNarrowRows : tile.max_rows;
}

}  // namespace

TileRun::TileRun(const TileStep& step, CpuLevel level)
    : step_(step),
      level_(level),
      tile_(weights::tile_shape(level)),
      panels_(step.cut.panels),
      blocks_(step.cut.blocks()),
      repeatable_(is_repeatable(step)),
      full_panels_(step.columns / tile_.width()),
      panel_bytes_(weights::packed_depth(step.depth) *
                   weights::panel_row_bytes(step.weights, tile_.width())),
      header_bytes_(
          weights::header_bytes(step.weights, step.columns, tile_.width())) {
  FXJIT_CHECK(!step.cut.starts.empty(), "tiles: the step was not analysed");
  FXJIT_CHECK(!weights::is_paired(step.weights) ||
                  (step.rows <= tile_.max_rows && step.batch == 1),
              "one tile of rows reads weights in pairs");
  add_strides(step.extras);
  add_strides(step.outputs);
  if (step.rows == 0 || step.columns == 0 || step.batch == 0) return;
  const int64_t rest = step.columns % tile_.width();
  for (int64_t block = 0; block < blocks_; ++block) {
    const auto at = static_cast<size_t>(block);
    const int64_t rows = step_.cut.starts[at + 1] - step_.cut.starts[at];
    if (full_panels_ > 0) cuts_[0].push_back(cut(rows, tile_.width()));
    if (rest > 0) cuts_[1].push_back(cut(rows, rest));
  }
  if (step.rows != 1 || step.batch != 1) return;
  if (full_panels_ >= kPanelGroup && !weights::is_paired(step.weights))
    group_kernel_ = kernel(1, tile_.width(), kPanelGroup);
}

TileRun::Cut TileRun::cut(int64_t rows, int64_t columns) {
  Cut cut;
  const int64_t vectors = (columns + tile_.lanes - 1) / tile_.lanes;
  const int64_t most = max_rows(tile_, vectors, level_);
  const int64_t tiles = (rows + most - 1) / most;
  const int64_t again = tiles * most - rows;
  if (repeatable_ && again * kRowsPerRepeated <= step_.rows) {
    cut.again = again;
    rows += again;
  }
  cut.height = rows / tiles;
  cut.tall = rows % tiles;
  cut.low = tiles - cut.tall;
  if (cut.tall > 0) cut.tall_kernel = kernel(cut.height + 1, columns, 1);
  if (cut.low > 0) cut.low_kernel = kernel(cut.height, columns, 1);
  cut.fetch_shift = fetch_shift(tiles);
  return cut;
}

// The next panel is prefetched evenly over all tiles of this one: the more
// tiles, the more seldom each fetches a line.
int64_t TileRun::fetch_shift(int64_t tiles) const {
  int64_t shift = 0;
  while (fetching_tiles(tile_.width()) << (shift + 1) <= tiles) ++shift;
  return shift;
}

// The index of the kernel for such tiles; a form that is new is added.
size_t TileRun::kernel(int64_t rows, int64_t columns, int panels) {
  TileForm wanted{step_.without_sizes()};
  wanted.rows = static_cast<int>(rows);
  wanted.vectors = static_cast<int>((columns + tile_.lanes - 1) / tile_.lanes);
  wanted.masked = columns != tile_.width();
  wanted.panels = panels;
  wanted.depth_parts = depth_parts(rows * wanted.vectors * panels);
  // A single tile leaves no time to fetch behind; then the hardware's own
  // prefetching of one stream does better.
  wanted.prefetches = step_.rows > tile_.max_rows && !step_.rhs_batched &&
                      step_.weights == weights::Format::f32;
  wanted.weights = step_.weights;
  wanted.lhs = step_.lhs;
  wanted.sums = step_.sums;
  const auto known = std::find(forms_.begin(), forms_.end(), wanted);
  if (known != forms_.end()) return static_cast<size_t>(known - forms_.begin());
  forms_.push_back(std::move(wanted));
  return forms_.size() - 1;
}

int TileRun::depth_parts(int64_t sums) const {
  int parts = 1;
  // With paired formats, unpacking weights hides the latency of sums.
  if (weights::is_paired(step_.weights)) return parts;
  while (!step_.strict && sums < kEnoughSums && parts * 2 <= kMaxDepthParts &&
         parts * 2 * sums <= max_sums(level_) && step_.depth > 0 &&
         step_.depth % (parts * 2) == 0)
    parts *= 2;
  return parts;
}

void TileRun::run(const StepCall& call, int64_t begin, int64_t end) const {
  if (group_kernel_)
    for (; begin + kPanelGroup <= std::min(end, full_panels_);
         begin += kPanelGroup)
      run_tiles(call, {0, begin, 0}, {*group_kernel_, 0, 1, 0});
  for (; begin < end; ++begin) run_panel(call, begin);
}

void TileRun::run_panel(const StepCall& call, int64_t task) const {
  const int64_t matrix = task / (panels_ * blocks_);
  const int64_t within = task % (panels_ * blocks_);
  const auto block = static_cast<size_t>(
      step_.cut.rows_first ? within / panels_ : within % blocks_);
  const int64_t panel =
      step_.cut.rows_first ? within % panels_ : within / blocks_;
  Place place{matrix, panel, step_.cut.starts[block]};
  const Cut& cut = cuts_[panel >= full_panels_][block];
  const auto tiles = [&](size_t kernel, int64_t first, int64_t count) {
    run_tiles(call, place, {kernel, first, count, cut.fetch_shift});
  };
  if (cut.tall > 0) tiles(cut.tall_kernel, 0, cut.tall);
  place.row += cut.tall * (cut.height + 1);
  const int64_t apart = cut.again > 0 ? 1 : 0;
  if (cut.low > apart) tiles(cut.low_kernel, cut.tall, cut.low - apart);
  if (apart == 0) return;
  place.row = step_.cut.starts[block + 1] - cut.height;
  tiles(cut.low_kernel, cut.low - 1, 1);
}

void TileRun::run_tiles(const StepCall& call, const Place& place,
                        const Tiles& tiles) const {
  // Left uninitialised, because a single row takes only about a microsecond.
  TileOperand few[kFewOperands];
  std::optional<std::vector<TileOperand>> many;
  TileOperand* operands = few;
  if (strides_.size() > kFewOperands)
    operands = many.emplace(strides_.size()).data();
  place_operands(call, place, operands);
  const int64_t matrix = step_.rhs_batched ? place.batch * panels_ : 0;
  const auto* packed = static_cast<const std::byte*>(call.operands[1]);
  float start[kMostStart];
  if (weights::is_paired(step_.weights))
    start_sums(call, place, forms_[tiles.kernel], start);
  const TileCall run{
      static_cast<const float*>(call.operands[0]) +
          place.batch * step_.lhs_batch + place.row * step_.lhs_row,
      packed + header_bytes_ + (matrix + place.panel) * panel_bytes_,
      operands,
      tiles.first,
      tiles.count,
      step_.depth,
      step_.lhs_row,
      panel_bytes_,
      tiles.fetch_shift,
      (step_.columns - 1) % tile_.lanes + 1,
      table(packed, place.panel),
      start};
  code_[tiles.kernel](&run);
}

const std::byte* TileRun::table(const std::byte* packed, int64_t panel) const {
  const bool by_column = step_.weights == weights::Format::fixed24;
  return by_column ? packed + panel * tile_.width() * 4 : packed;
}

// Sets the sums to the products of the outliers, weights that are stored
// outside of the panels.
void TileRun::start_sums(const StepCall& call, const Place& place,
                         const TileForm& form, float* sums) const {
  const int64_t panel_lanes = int64_t{form.vectors} * tile_.lanes;
  const int64_t row_lanes = panel_lanes * form.panels;
  std::fill_n(sums, form.rows * row_lanes, 0.0f);
  const weights::Outliers outliers(
      static_cast<const std::byte*>(call.operands[1]), step_.weights,
      step_.depth, step_.columns, tile_.width());
  const auto* lhs =
      static_cast<const float*>(call.operands[0]) + place.row * step_.lhs_row;
  for (int p = 0; p < form.panels; ++p)
    for (const weights::Outlier& outlier : outliers.of_panel(place.panel + p))
      for (int r = 0; r < form.rows; ++r)
        sums[r * row_lanes + p * panel_lanes + outlier.lane] +=
            lhs[r * step_.lhs_row + outlier.depth] * outlier.value;
}

void TileRun::add_strides(const std::vector<TileAccess>& accesses) {
  for (const TileAccess& access : accesses) {
    const auto size = static_cast<int64_t>(dtype_size(access.dtype));
    const int64_t panel = access.column != 0 ? tile_.width() : 0;
    strides_.push_back({access.batch * size, panel * size, access.row * size});
  }
}

void TileRun::place_operands(const StepCall& call, const Place& place,
                             TileOperand* operands) const {
  for (size_t i = 0; i < strides_.size(); ++i) {
    const Strides& by = strides_[i];
    operands[i] = {static_cast<std::byte*>(call.operands[2 + i]) +
                       place.batch * by.batch + place.panel * by.panel +
                       place.row * by.row,
                   by.row};
  }
}

void run_tile_step(const StepCall* call, int64_t begin, int64_t end) {
  static_cast<const TileRun*>(call->data)->run(*call, begin, end);
}

}  // namespace fxjit::program
