// What `Slice` takes of one dim, in each of its versions.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "src/import/onnx/call.h"

namespace fxjit::onnx {

struct Slice {
  int64_t axis = 0, start = 0, end = 0, step = 1;

  // With start and end inside of a dim of this size, as the op defines: of a
  // negative step the end may be -1.
  Slice clamped(int64_t size) const;
};

// Nothing where some of it is not known when the model is loaded.
std::optional<std::vector<Slice>> known_slices(const Call& call);

}  // namespace fxjit::onnx
