// What branches and loops share.
#pragma once

#include "src/import/onnx/graph_reader.h"
#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {

// Longer loops are never unrolled.
inline constexpr int64_t kMostTurns = 1024;

// Whether a loop of so many iterations becomes as many copies of its body.
bool is_short(int64_t turns, const GraphInfo& body);

// The truth of a tensor with one element, without dims.
Value flag_of(const Value& tensor);

// What is known of a stack of slices, from one of them.
Recorder::Known known_stack(const Recorder::Known& slice, const Value& count);

// What is carried keeps dtype and sizes: fails where `next` shows that it does
// not.
void check_carried(const Call& call, size_t i, const Recorder::Known& first,
                   const Recorder::Known& next);

Results loop(Call& call);
Results scan(Call& call);
Results scan_8(Call& call);

}  // namespace fxjit::onnx
