// Further calls that a random graph grows by: layers of networks, ops that are
// made of others, ops that give several tensors, ops that may return an
// argument.
#pragma once

#include "tests/compile/graph_calls.h"

namespace fxjit::testing {

class LayerCalls : public PureCalls {
 protected:
  using PureCalls::PureCalls;

  bool layer();      // Convolutions, pooling, norms of channels.
  bool pieces();     // Several views of one value.
  bool composite();  // Made of other ops.
  bool sort();       // Several results that are no views.
  bool alias();      // May return its argument.

 private:
  bool convolution();
  bool pool(const Item& x);
  Item image();  // [N, C, H, W] of float32.
  bool einsum();
  bool broadcasts();
};

}  // namespace fxjit::testing
