// Boxes: which of them are kept.
#include <algorithm>

#include "fxjit/error.h"
#include "fxjit/fx/target.h"
#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {
namespace {

struct Box {
  double x1, y1, x2, y2;

  double area() const { return (x2 - x1) * (y2 - y1); }
};

// Two corners in any order, or a centre and sizes.
Box read_box(const float* numbers, bool centred) {
  const double a = numbers[0], b = numbers[1], c = numbers[2], d = numbers[3];
  if (centred) return {a - c / 2, b - d / 2, a + c / 2, b + d / 2};
  return {std::min(b, d), std::min(a, c), std::max(b, d), std::max(a, c)};
}

bool overlaps(const Box& a, const Box& b, double threshold) {
  const double width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  const double height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  if (!(width > 0) || !(height > 0)) return false;
  const double shared = width * height;
  const double all = a.area() + b.area() - shared;
  if (!(a.area() > 0) || !(b.area() > 0) || !(all > 0)) return false;
  return shared / all > threshold;
}

struct SelectionLimits {
  int64_t count;
  double overlap;
  std::optional<double> score;
  bool centred;
};

// The best boxes of one class, each by itself, best first.
std::vector<int64_t> kept_boxes(const float* boxes, const float* scores,
                                int64_t count, const SelectionLimits& limits) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < count; ++i)
    if (!limits.score || static_cast<double>(scores[i]) > *limits.score)
      order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  std::vector<int64_t> kept;
  std::vector<Box> taken;
  for (const int64_t i : order) {
    if (static_cast<int64_t>(kept.size()) >= limits.count) break;
    const Box box = read_box(boxes + 4 * i, limits.centred);
    if (std::any_of(taken.begin(), taken.end(), [&](const Box& one) {
          return overlaps(one, box, limits.overlap);
        }))
      continue;
    taken.push_back(box);
    kept.push_back(i);
  }
  return kept;
}

// [batches, boxes, 4] and [batches, classes, boxes]: rows of batch, class, box.
Value kept_of_all(const ValueList& args, const Kwargs&) {
  const Tensor boxes = args.at(0).as_tensor().to(DType::f32).contiguous();
  const Tensor scores = args.at(1).as_tensor().to(DType::f32).contiguous();
  if (boxes.dim() != 3 || scores.dim() != 3 || boxes.size(2) != 4 ||
      boxes.size(0) != scores.size(0) || boxes.size(1) != scores.size(2))
    throw RuntimeError(
        "[NonMaxSuppression] expected boxes [n, k, 4] and "
        "scores [n, classes, k], got " +
        boxes.describe() + " and " + scores.describe());
  const auto number = [&](size_t i, double otherwise) {
    return args.at(i).is_none() ? otherwise : args.at(i).as_tensor().item();
  };
  SelectionLimits limits{
      std::max<int64_t>(static_cast<int64_t>(number(2, 0)), 0),
      number(3, 0),
      {},
      args.at(5).as_bool()};
  if (!args.at(4).is_none()) limits.score = number(4, 0);
  const int64_t count = boxes.size(1), classes = scores.size(1);
  std::vector<int64_t> rows;
  for (int64_t n = 0; n < boxes.size(0); ++n)
    for (int64_t c = 0; c < classes; ++c)
      for (const int64_t i :
           kept_boxes(boxes.data_as<float>() + n * count * 4,
                      scores.data_as<float>() + (n * classes + c) * count,
                      count, limits))
        rows.insert(rows.end(), {n, c, i});
  return Tensor::from(rows, {static_cast<int64_t>(rows.size()) / 3, 3});
}

// A loop over boxes that no function of torch is.
const fx::Function& suppression() {
  static const fx::Function& made =
      fx::define_function("fxjit.onnx.non_max_suppression", kept_of_all);
  return made;
}

Results non_max_suppression(Call& call) {
  return call.recorder().record_function(
      suppression(),
      {call[0], call[1], call.optional(2), call.optional(3), call.optional(4),
       call.flag("center_point_box", false)},
      Tensor::meta({64, 3}, DType::i64));
}

constexpr OpRow kDetectionOps[] = {
    {.op = "NonMaxSuppression", .since = 10, .run = non_max_suppression},
};

}  // namespace

std::span<const OpRow> detection_rows() { return kDetectionOps; }

}  // namespace fxjit::onnx
