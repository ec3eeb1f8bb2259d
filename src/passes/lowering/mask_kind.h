// What a tensor of masks does to the scores of attention: numbers of a lowered
// call, and part of the step that computes it.
#pragma once

#include <cstdint>

namespace fxjit::passes {

enum class MaskKind : uint8_t {
  add,   // score + value * mask, f32.
  hide,  // score where true, else score - infinity.
  keep,  // score where true, else value.
  fill,  // value where true, else score.
};

}  // namespace fxjit::passes
