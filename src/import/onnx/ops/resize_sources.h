// Where the elements of a resized dim come from, by the rules of ONNX's Resize.
// For resize.cpp alone.
#pragma once

#include <string>

#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {

// One dim. Numbers where they are known; else tensors and proxies.
struct Line {
  int64_t axis = 0;
  Value scale;  // A number, or a tensor of one.
  // The scale is this number over that one. Sizes stay whole numbers.
  Value over, under = 1;
  Value size, new_size;
  Value roi_begin, roi_end;
};

// Where each new element of a dim comes from: places, [new size], or with the
// weights of several [new size, neighbours].
struct Sources {
  Value places, weights;
  Value off;  // Which are of no place in the input; mostly none.
};

Sources sources_of(const Call& call, const Line& line, const std::string& mode,
                   const std::string& transform);
// A tensor of one number, which may be a proxy of a number.
Value tensor_of(const Value& number);
// Up to opset 10 places are rounded down.
std::string nearest_mode(const Call& call);

}  // namespace fxjit::onnx
