// The operands of attention.
#pragma once

#include <cstdint>

#include "src/passes/lowering/mask_kind.h"
#include "src/program/steps/fields.h"

namespace fxjit::program {

// Strides of one attention operand [outer, batch, head, row, depth]; depth
// stride 1.
struct HeadAccess {
  int64_t batch = 0;
  int64_t head = 0;
  int64_t row = 0;
  int64_t outer = 0;

  friend bool operator==(const HeadAccess&, const HeadAccess&) = default;
};

// What a tensor of masks does to the scores of attention.
struct AttentionMask {
  passes::MaskKind kind = passes::MaskKind::add;
  HeadAccess access;  // Row is the query.
  int64_t key_stride = 0;
  float value = 1;

  friend bool operator==(const AttentionMask&, const AttentionMask&) = default;
};

template <typename V>
void fields(Is<HeadAccess> auto& s, V& v) {
  v("batch", s.batch), v("head", s.head), v("row", s.row), v("outer", s.outer);
}
template <typename V>
void fields(Is<AttentionMask> auto& s, V& v) {
  v("kind", s.kind), v("access", s.access), v("key_stride", s.key_stride);
  v("value", s.value);
}

}  // namespace fxjit::program
