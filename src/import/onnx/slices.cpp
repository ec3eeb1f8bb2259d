#include "src/import/onnx/slices.h"

namespace fxjit::onnx {
namespace {

// Inputs from opset 10 on, attributes before.
std::optional<std::vector<int64_t>> part(const Call& call, size_t input,
                                         std::string_view attribute) {
  return call.opset() >= 10 ? call.known_ints(input) : call.integers(attribute);
}

}  // namespace

Slice Slice::clamped(int64_t size) const {
  Slice inside = *this;
  if (inside.start < 0) inside.start += size;
  if (inside.end < 0) inside.end += size;
  if (step > 0) {
    inside.start = std::clamp<int64_t>(inside.start, 0, size);
    inside.end = std::clamp<int64_t>(inside.end, 0, size);
  } else {
    // Of no elements none is taken: start and end are both -1.
    const int64_t last = size - 1;
    inside.start =
        std::clamp<int64_t>(inside.start, std::min<int64_t>(0, last), last);
    inside.end = std::clamp<int64_t>(inside.end, -1, last);
  }
  return inside;
}

std::optional<std::vector<Slice>> known_slices(const Call& call) {
  const auto starts = part(call, 1, "starts"), ends = part(call, 2, "ends");
  if (!starts || !ends) return std::nullopt;
  const auto axes = part(call, 3, "axes");
  const auto steps = part(call, 4, "steps");
  if ((call.has(3) && !axes) || (call.has(4) && !steps)) return std::nullopt;
  if (ends->size() != starts->size() ||
      (axes && axes->size() != starts->size()) ||
      (steps && steps->size() != starts->size()))
    call.fail("starts, ends, axes and steps: expected as many of each");
  std::vector<Slice> slices;
  for (size_t i = 0; i < starts->size(); ++i) {
    Slice slice{axes ? (*axes)[i] : static_cast<int64_t>(i), (*starts)[i],
                (*ends)[i], steps ? (*steps)[i] : 1};
    if (slice.step == 0) call.fail("steps: 0");
    slice.axis = call.wrap(slice.axis, call.rank(0));
    slices.push_back(slice);
  }
  return slices;
}

}  // namespace fxjit::onnx
