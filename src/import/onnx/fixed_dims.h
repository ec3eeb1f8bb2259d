// Which dims of a result have one size in all calls, for calls that keep the
// sizes of their operands or name those of the result. For the Recorder.
#pragma once

#include <cstdint>
#include <functional>

#include "fxjit/op.h"

namespace fxjit::onnx {

// What is known of an operand: its example, and as bits the dims whose size is
// the same in all calls.
struct KnownDims {
  Tensor example;
  uint32_t fixed = 0;
};

// Bit d: dim d of `result`, the example of what the call gives. `args` are
// bound to the op's schema; `known` is asked for tensors and proxies of
// tensors.
uint32_t fixed_dims(const ops::Op& op, const ValueList& args,
                    const Tensor& result,
                    const std::function<KnownDims(const Value&)>& known);

}  // namespace fxjit::onnx
