// fxjit.non_max_suppression, ONNX's NonMaxSuppression: which boxes are kept.
// Scores and overlaps are compared in f32, as ONNX Runtime does.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "src/ops/families/shared/structured.h"
#include "src/ops/table/data_dependent.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

struct Box {
  float x1, y1, x2, y2;

  float area() const { return (x2 - x1) * (y2 - y1); }
};

// Two corners in any order, or a centre and sizes.
Box read_box(const float* n, bool centred) {
  if (centred) {
    const float width = n[2] / 2, height = n[3] / 2;
    return {n[0] - width, n[1] - height, n[0] + width, n[1] + height};
  }
  const bool right = n[1] >= n[3], down = n[0] >= n[2];
  return {right ? n[3] : n[1], down ? n[2] : n[0], right ? n[1] : n[3],
          down ? n[0] : n[2]};
}

// The boxes of one class that were kept, in blocks of which one is compared
// with a box at a time.
class KeptBoxes {
 public:
  void clear() {
    blocks_.clear();
    count_ = 0;
  }

  // Boxes without an area overlap nothing.
  void add(const Box& box) {
    if (!(box.area() > 0)) return;
    const size_t at = count_++ % kLanes;
    if (at == 0) blocks_.emplace_back();
    Block& block = blocks_.back();
    block.x1[at] = box.x1;
    block.y1[at] = box.y1;
    block.x2[at] = box.x2;
    block.y2[at] = box.y2;
    block.area[at] = box.area();
  }

  bool overlap(const Box& box, float threshold) const {
    const float area = box.area();
    if (!(area > 0)) return false;
    return std::any_of(blocks_.begin(), blocks_.end(), [&](const Block& block) {
      return block.overlaps(box, area, threshold);
    });
  }

 private:
  static constexpr size_t kLanes = 8;
  using Lanes = std::array<float, kLanes>;
  static constexpr Lanes everywhere(float number) {
    Lanes lanes{};
    lanes.fill(number);
    return lanes;
  }

  struct Block {
    // Free places are boxes that end before they begin.
    Lanes x1 = everywhere(std::numeric_limits<float>::infinity());
    Lanes y1 = x1, area = everywhere(1);
    Lanes x2 = everywhere(-std::numeric_limits<float>::infinity());
    Lanes y2 = x2;

    bool overlaps(const Box& box, float own, float threshold) const {
      int found = 0;
      for (size_t i = 0; i < kLanes; ++i) {
        const float width = std::min(x2[i], box.x2) - std::max(x1[i], box.x1);
        const float height = std::min(y2[i], box.y2) - std::max(y1[i], box.y1);
        const float shared = width * height;
        const float all = area[i] + own - shared;
        found |= static_cast<int>(width > 0) & static_cast<int>(height > 0) &
                 static_cast<int>(all > 0) &
                 static_cast<int>(shared / all > threshold);
      }
      return found != 0;
    }
  };

  std::vector<Block> blocks_;
  size_t count_ = 0;
};

struct SelectionLimits {
  int64_t count;
  float overlap;
  std::optional<float> score;
};

// Greater for boxes that come first: those of a higher score, of equal ones the
// first; those whose score is NaN come last.
uint64_t rank_of(float score, size_t place) {
  uint32_t rank = 0;
  if (!std::isnan(score)) {
    rank = std::bit_cast<uint32_t>(score + 0.0f);  // -0 and 0 are equal.
    rank = rank >> 31 ? ~rank : rank | 0x80000000u;
  }
  return uint64_t{rank} << 32 | (0xffffffffu - place);
}

size_t place_of(uint64_t rank) { return 0xffffffffu - (rank & 0xffffffffu); }

class Selection {
 public:
  Selection(const SelectionLimits& limits, size_t boxes)
      : limits_(limits), ranks_(boxes) {}

  // Calls `keep` with the place of each box that is kept, best first.
  template <typename Keep>
  void run(const std::vector<Box>& boxes, const float* scores,
           const Keep& keep) {
    const auto begin = ranks_.begin();
    auto end = begin + static_cast<std::ptrdiff_t>(note_candidates(scores));
    std::make_heap(begin, end);
    kept_.clear();
    for (int64_t count = 0; begin != end && count < limits_.count; --end) {
      const size_t place = place_of(*begin);
      if (!kept_.overlap(boxes[place], limits_.overlap)) {
        kept_.add(boxes[place]);
        keep(static_cast<int64_t>(place));
        ++count;
      }
      std::pop_heap(begin, end);
    }
  }

 private:
  size_t note_candidates(const float* scores) {
    size_t count = 0;
    for (size_t i = 0; i < ranks_.size(); ++i) {
      ranks_[count] = rank_of(scores[i], i);
      count += !limits_.score || scores[i] > *limits_.score;
    }
    return count;
  }

  const SelectionLimits limits_;
  std::vector<uint64_t> ranks_;
  KeptBoxes kept_;
};

// Of arguments that are tensors of one element, or absent.
SelectionLimits read_limits(const OpCall& call) {
  SelectionLimits limits{0, 0, {}};
  if (call.has(2))
    limits.count = std::max<int64_t>(call.tensor(2).to_ints().at(0), 0);
  if (call.has(3)) limits.overlap = static_cast<float>(call.tensor(3).item());
  if (call.has(4)) limits.score = static_cast<float>(call.tensor(4).item());
  return limits;
}

// [batches, boxes, 4] and [batches, classes, boxes]: rows of batch, class, box.
Value kept_of_all(const OpCall& call) {
  const Tensor boxes = call.tensor(0).to(DType::f32).contiguous();
  const Tensor scores = call.tensor(1).to(DType::f32).contiguous();
  if (boxes.dim() != 3 || scores.dim() != 3 || boxes.size(2) != 4 ||
      boxes.size(0) != scores.size(0) || boxes.size(1) != scores.size(2))
    runtime_error("expected boxes [n, k, 4] and scores [n, classes, k], got ",
                  boxes.describe(), " and ", scores.describe());
  const int64_t count = boxes.size(1), classes = scores.size(1);
  if (count > std::numeric_limits<uint32_t>::max())
    runtime_error("expected fewer than 2^32 boxes, got ", count);
  Selection selection(read_limits(call), static_cast<size_t>(count));
  std::vector<Box> read(static_cast<size_t>(count));
  std::vector<int64_t> rows;
  for (int64_t n = 0; n < boxes.size(0); ++n) {
    for (int64_t i = 0; i < count; ++i)
      read[static_cast<size_t>(i)] =
          read_box(boxes.data_as<float>() + (n * count + i) * 4, call.flag(5));
    for (int64_t c = 0; c < classes; ++c)
      selection.run(read, scores.data_as<float>() + (n * classes + c) * count,
                    [&](int64_t i) { rows.insert(rows.end(), {n, c, i}); });
  }
  return Tensor::from(rows, {static_cast<int64_t>(rows.size()) / 3, 3});
}

Value infer_kept(const OpCall& call) {
  throw DataDependentError(std::string(call.op.name()) +
                           ": how many boxes are kept depends on the data");
}

constexpr OpRow kSuppressionRows[] = {
    made_row("fxjit.non_max_suppression",
             "boxes, scores, most=None, overlap=None, score=None, "
             "centred=False",
             "fxjit.non_max_suppression", infer_kept, kept_of_all),
};

}  // namespace

std::span<const OpRow> suppression_rows() { return kSuppressionRows; }

}  // namespace fxjit::ops
