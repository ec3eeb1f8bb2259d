// NonMaxSuppression: order, ties, limits and numbers that are none, as ONNX
// Runtime 1.32 has them.
#include <cmath>

#include "tests/onnx/single_ops.h"

namespace fxjit::testing_onnx {
namespace {

struct Limits {
  Value most, overlap, score;
  bool centred = false;
};

SingleOp suppressed(const char* name, const Value& boxes, const Value& scores,
                    const Limits& limits, const std::vector<float>& kept) {
  SingleOp one;
  one.name = name;
  one.op = "NonMaxSuppression";
  if (limits.centred) one.attributes = {int_attribute("center_point_box", 1)};
  one.inputs = {boxes, scores, limits.most, limits.overlap, limits.score};
  while (one.inputs.back().is_none()) one.inputs.pop_back();
  one.sizes = {static_cast<int64_t>(kept.size()) / 3, 3};
  one.expected = kept;
  return one;
}

Value most(int64_t count) { return Tensor::full({1}, count, DType::i64); }
Value limit(float value) { return Tensor::full({1}, value, DType::f32); }

// Ties, zeros of both signs, infinities, and scores that are no numbers.
Value special_scores() {
  const float none = NAN, most = INFINITY;
  return numbers({1, 1, 9},
                 {none, 0.5F, -0.0F, 0, 0.9F, none, most, -most, 0.5F},
                 DType::f32);
}

Value special_boxes() {
  const Tensor boxes = wave({1, 9, 4}, 1).as_tensor();
  boxes.data_as<float>()[4] = NAN;
  boxes.data_as<float>()[18] = INFINITY;
  return boxes;
}

}  // namespace

std::vector<SingleOp> suppression_ops() {
  return {
      suppressed(
          "TwoBatchesOfThreeClasses", wave({2, 30, 4}, 1), wave({2, 3, 30}, 2),
          {most(10), limit(0.3F), None},
          {0, 0, 10, 0, 0, 2, 0, 0, 5, 0, 0, 8,  0, 0, 0,  0, 0, 3,  0, 0, 6,
           0, 0, 4,  0, 0, 7, 0, 1, 2, 0, 1, 5,  0, 1, 8,  0, 1, 0,  0, 1, 3,
           0, 1, 6,  0, 1, 4, 0, 1, 7, 0, 1, 10, 0, 2, 5,  0, 2, 8,  0, 2, 0,
           0, 2, 3,  0, 2, 6, 0, 2, 4, 0, 2, 7,  0, 2, 10, 0, 2, 2,  1, 0, 8,
           1, 0, 0,  1, 0, 3, 1, 0, 6, 1, 0, 9,  1, 0, 7,  1, 0, 10, 1, 0, 2,
           1, 0, 5,  1, 1, 0, 1, 1, 3, 1, 1, 6,  1, 1, 9,  1, 1, 7,  1, 1, 10,
           1, 1, 2,  1, 1, 5, 1, 1, 8, 1, 2, 3,  1, 2, 6,  1, 2, 9,  1, 2, 7,
           1, 2, 10, 1, 2, 2, 1, 2, 5, 1, 2, 8,  1, 2, 0}),
      suppressed("ALeastScore", wave({2, 30, 4}, 1), wave({2, 3, 30}, 2),
                 {most(10), limit(0.3F), limit(0.25F)},
                 {0, 0, 10, 0, 0, 2, 0, 0, 5, 0, 0, 8, 0, 1, 2, 0, 1, 5,
                  0, 1, 8,  0, 1, 0, 0, 2, 5, 0, 2, 8, 0, 2, 0, 0, 2, 3,
                  1, 0, 8,  1, 0, 0, 1, 0, 3, 1, 0, 6, 1, 1, 0, 1, 1, 3,
                  1, 1, 6,  1, 1, 9, 1, 2, 3, 1, 2, 6, 1, 2, 9}),
      suppressed("NoOverlapAtAll", wave({1, 40, 4}, 3), wave({1, 2, 40}, 5),
                 {most(100), limit(0), None},
                 {0, 0, 4, 0, 0, 7, 0, 0, 10, 0, 1, 8, 0, 1, 3}),
      suppressed("EveryOverlap", wave({1, 12, 4}, 3), wave({1, 1, 12}, 5),
                 {most(100), limit(1), limit(-0.5F)},
                 {0, 0, 4, 0, 0, 7, 0, 0, 10, 0, 0, 2,
                  0, 0, 5, 0, 0, 8, 0, 0, 0,  0, 0, 11}),
      suppressed("Centres", wave({1, 40, 4}, 4), wave({1, 2, 40}, 6),
                 {most(5), limit(0.2F), limit(0), true},
                 {0, 0, 2, 0, 0, 13, 0, 0, 24, 0, 0, 35, 0, 0, 5,
                  0, 1, 6, 0, 1, 17, 0, 1, 28, 0, 1, 39, 0, 1, 9}),
      suppressed("TheDefaultNumber", wave({1, 40, 4}, 4), wave({1, 2, 40}, 6),
                 {None, limit(0.2F), limit(0), true}, {}),
      suppressed("NoneIsGoodEnough", wave({1, 40, 4}, 4), wave({1, 2, 40}, 6),
                 {most(4), limit(0.2F), limit(2)}, {}),
      suppressed("SpecialScores", wave({1, 9, 4}, 1), special_scores(),
                 {most(9), limit(0.9F), limit(-1)},
                 {0, 0, 6, 0, 0, 4, 0, 0, 1, 0, 0, 8, 0, 0, 2, 0, 0, 3}),
      suppressed("SpecialBoxes", special_boxes(), special_scores(),
                 {most(9), limit(0.1F), limit(-1)},
                 {0, 0, 6, 0, 0, 4, 0, 0, 1, 0, 0, 2, 0, 0, 3}),
  };
}

}  // namespace fxjit::testing_onnx
