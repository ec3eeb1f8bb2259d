// The packed weights of a recurrent layer. Constant weights are packed once;
// weights that are arguments of the call are packed by each task into its
// working memory.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/call_request.h"
#include "kernels/recurrence/step.h"
#include "src/support/machine/cache_line.h"

namespace fxjit::kernels {

// The parts of a task's working memory. Each part has an offset, in floats,
// from its start.
struct Room {
  int64_t size = 0;

  int64_t add(int64_t floats) {
    constexpr int64_t kLine = support::kLineFloats;
    return std::exchange(size, size + (floats + kLine - 1) / kLine * kLine);
  }
};

class LayerWeights {
 public:
  LayerWeights() = default;  // Those that a layer does not have.
  // Weights of all directions. They are the operands from `place` on, one for
  // each direction, and each is packed as its StepPacking says.
  LayerWeights(const CallRequest& request, int64_t place,
               std::vector<StepPacking> packings);

  void lay_out(Room& room);
  // Whether the operand is packed once for all calls, so that no call reads it.
  bool holds(int64_t operand) const;
  const float* of(const program::StepCall& call, int64_t direction) const;

 private:
  int64_t place_ = -1;
  std::vector<StepPacking> packings_;
  std::vector<weights::Block> blocks_;  // Null for weights of a call.
  int64_t own_ = 0;                     // In working memory.
};

}  // namespace fxjit::kernels
