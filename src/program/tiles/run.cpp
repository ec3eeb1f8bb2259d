#include "src/program/tiles/run.h"

#include <algorithm>

#include "fxjit/error.h"
#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

constexpr int kMaxDepthParts = 4;
constexpr int64_t kPanelGroup = 4;
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

int64_t max_rows(const weights::RegisterTile& tile, int64_t vectors,
                 CpuLevel level) {
  return kNarrowRows * vectors <= max_sums(level) ? kNarrowRows : tile.max_rows;
}

}  // namespace

TileRun::TileRun(const TileStep& step, CpuLevel level)
    : step_(step),
      level_(level),
      tile_(weights::register_tile(level)),
      panels_(step.cut.panels),
      blocks_(step.cut.blocks()),
      repeatable_(is_repeatable(step)),
      taps_(step.window.tap_count()),
      outside_(static_cast<size_t>(step.window.channels), 0.0f),
      full_panels_(step.columns / tile_.width()),
      panel_bytes_(step.panel_bytes(tile_.width())),
      header_bytes_(
          weights::header_bytes(step.weights, step.columns, tile_.width())),
      made_bytes_(weights::packed_depth(step.depth) * tile_.width() *
                  static_cast<int64_t>(sizeof(float))) {
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
  if (step.packs()) {
    if (full_panels_ > 0) packing_kernels_[0] = packing_kernel(tile_.width());
    if (rest > 0) packing_kernels_[1] = packing_kernel(rest);
    return;
  }
  if (step.decodes()) {
    packing_kernels_.fill(decoding_kernel());
    return;
  }
  // A window's taps read one panel after the other.
  if (step.rows != 1 || step.batch != 1 || step.has_window()) return;
  // Decoding needs registers.
  group_panels_ = step.has_blocks() ? 2 : kPanelGroup;
  if (full_panels_ >= group_panels_ && !weights::is_paired(step.weights))
    group_kernel_ = kernel(1, tile_.width(), static_cast<int>(group_panels_));
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
                      !step_.makes_panels() && !step_.has_window() &&
                      step_.weights == weights::Format::f32;
  wanted.has_window = step_.has_window();
  wanted.weights = step_.tile_format();
  if (wanted.weights == weights::Format::blocks) wanted.blocks = step_.blocks;
  wanted.lhs = step_.lhs;
  wanted.sums = step_.sums;
  return number_of(std::move(wanted));
}

size_t TileRun::number_of(TileForm wanted) {
  const auto known = std::find(forms_.begin(), forms_.end(), wanted);
  if (known != forms_.end()) return static_cast<size_t>(known - forms_.begin());
  forms_.push_back(std::move(wanted));
  return forms_.size() - 1;
}

size_t TileRun::packing_kernel(int64_t columns) {
  TileForm wanted;
  wanted.vectors = static_cast<int>(support::ceil_div(columns, tile_.lanes));
  wanted.masked = columns != tile_.width();
  wanted.packs = true;
  return number_of(std::move(wanted));
}

size_t TileRun::decoding_kernel() {
  TileForm wanted;
  wanted.vectors = static_cast<int>(tile_.width() / tile_.lanes);
  wanted.packs = true;
  wanted.weights = step_.weights;
  wanted.blocks = step_.blocks;
  return number_of(std::move(wanted));
}

int TileRun::depth_parts(int64_t sums) const {
  int parts = 1;
  // With paired formats, unpacking weights hides the latency of sums.
  if (weights::is_paired(step_.weights) ||
      step_.tile_format() == weights::Format::blocks || step_.has_window())
    return parts;
  while (!step_.strict && sums < kEnoughSums && parts * 2 <= kMaxDepthParts &&
         parts * 2 * sums <= max_sums(level_) && step_.depth > 0 &&
         step_.depth % (parts * 2) == 0)
    parts *= 2;
  return parts;
}

void TileRun::run(const StepCall& call, int64_t begin, int64_t end) const {
  if (step_.makes_panels()) return run_packing(call, begin, end);
  if (step_.has_window()) return run_windows(call, begin, end);
  if (group_kernel_)
    for (; begin + group_panels_ <= std::min(end, full_panels_);
         begin += group_panels_)
      run_tiles(call, {0, begin, 0, 0, packed_panel(call, 0, begin)},
                {*group_kernel_, 0, 1, 0});
  for (; begin < end; ++begin) run_panel(call, begin);
}

const std::byte* TileRun::packed_panel(const StepCall& call, int64_t matrix,
                                       int64_t panel) const {
  const int64_t first = step_.rhs_batched ? matrix * panels_ : 0;
  return static_cast<const std::byte*>(call.operands[1]) + header_bytes_ +
         (first + panel) * panel_bytes_;
}

TileRun::Task TileRun::task(int64_t number) const {
  const int64_t within = number % (panels_ * blocks_);
  const bool rows_first = step_.cut.rows_first;
  return {
      number / (panels_ * blocks_),
      rows_first ? within % panels_ : within / blocks_,
      static_cast<size_t>(rows_first ? within / panels_ : within % blocks_)};
}

void TileRun::run_panel(const StepCall& call, int64_t number) const {
  const Task t = task(number);
  run_block(call, t.matrix, t.panel, t.block,
            packed_panel(call, t.matrix, t.panel));
}

// The addresses of a block's rows are found once for the panels that follow
// each other.
void TileRun::run_windows(const StepCall& call, int64_t begin,
                          int64_t end) const {
  std::optional<size_t> found;
  for (; begin < end; ++begin) {
    const Task t = task(begin);
    if (found != t.block) {
      const int64_t first = step_.cut.starts[t.block];
      find_rows(step_.window, static_cast<const float*>(call.operands[0]),
                outside_.data(), first, step_.cut.starts[t.block + 1] - first,
                reinterpret_cast<const float**>(call.scratch));
      found = t.block;
    }
    run_block(call, t.matrix, t.panel, t.block,
              packed_panel(call, t.matrix, t.panel));
  }
}

// Tasks of one group of panels follow each other, one for each block of rows.
void TileRun::run_packing(const StepCall& call, int64_t begin,
                          int64_t end) const {
  const int64_t groups = step_.cut.groups();
  int64_t packed = -1;
  for (int64_t task = begin; task < end; ++task) {
    const int64_t matrix = task / blocks_ / groups;
    const int64_t panel = task / blocks_ % groups * step_.cut.group;
    if (task / blocks_ != packed) make_group(call, matrix, panel);
    packed = task / blocks_;
    const int64_t count = std::min(step_.cut.group, panels_ - panel);
    for (int64_t p = 0; p < count; ++p)
      run_block(call, matrix, panel + p, static_cast<size_t>(task % blocks_),
                call.scratch + p * made_bytes_);
  }
}

void TileRun::make_group(const StepCall& call, int64_t matrix,
                         int64_t panel) const {
  const int64_t count = std::min(step_.cut.group, panels_ - panel);
  if (step_.packs()) return pack_group(call, matrix, panel, count);
  TileCall decode{};
  decode.depth = step_.depth;
  for (int64_t p = 0; p < count; ++p) {
    decode.weights = packed_panel(call, matrix, panel + p);
    decode.made = call.scratch + p * made_bytes_;
    code_[packing_kernels_[0]](&decode);
  }
}

void TileRun::pack_group(const StepCall& call, int64_t matrix, int64_t panel,
                         int64_t count) const {
  const float* const from = static_cast<const float*>(call.operands[1]) +
                            matrix * step_.rhs_batch + panel * tile_.width();
  const int64_t full = std::min(count, full_panels_ - panel);
  TileCall copy{};
  copy.lhs = from;
  copy.lhs_row = step_.rhs_row;
  copy.made = call.scratch;
  copy.tiles = full;
  copy.depth = step_.depth;
  copy.panel_bytes = made_bytes_;
  copy.last_lanes = last_lanes();
  if (full > 0) code_[packing_kernels_[0]](&copy);
  if (full == count) return;
  copy.lhs = from + full * tile_.width();
  copy.made = call.scratch + full * made_bytes_;
  copy.tiles = 1;
  code_[packing_kernels_[1]](&copy);
}

void TileRun::run_block(const StepCall& call, int64_t matrix, int64_t panel,
                        size_t block, const std::byte* weights) const {
  Place place{matrix, panel, step_.cut.starts[block], step_.cut.starts[block],
              weights};
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
  const auto* packed = static_cast<const std::byte*>(call.operands[1]);
  float start[kMostStart];
  if (weights::is_paired(step_.weights))
    start_sums(call, place, forms_[tiles.kernel], start);
  TileCall run{};
  run.lhs = static_cast<const float*>(call.operands[0]) +
            place.batch * step_.lhs_batch + place.row * step_.lhs_row;
  run.weights = place.weights;
  run.operands = operands;
  run.first_tile = tiles.first;
  run.tiles = tiles.count;
  run.depth = step_.has_window() ? step_.window.channels : step_.depth;
  run.lhs_row = step_.lhs_row;
  run.panel_bytes = panel_bytes_;
  run.fetch_shift = tiles.fetch_shift;
  run.last_lanes = last_lanes();
  run.table = table(packed, place.panel);
  run.start = start;
  run.taps = taps_;
  if (step_.has_window())
    run.addresses = reinterpret_cast<const float* const*>(call.scratch) +
                    (place.row - place.first_row) * taps_;
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
