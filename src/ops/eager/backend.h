// Lets higher folders replace loops of the interpreter: the kernels folder
// installs a faster function for its products, which its convolutions are made
// of, and src/compile one for its convolutions and pooling, when the process
// starts. Without them the plain loops of this folder run.
#pragma once

#include <optional>

#include "fxjit/op.h"

namespace fxjit::ops {

struct MatmulArgs;

// A function of a backend computes the call and returns true, or returns false
// to leave it to the plain loop; a null function leaves all calls. It must be
// thread-safe and may be called from several threads at a time.
using MatmulBackend = bool (*)(const MatmulArgs& args);
// Calls of rows with Lowering::convolution or Lowering::pool, on real tensors
// and with a result of some elements.
using WindowBackend = bool (*)(const OpCall& call, Value* result);

// Install the function and return the one before. Thread-safe.
MatmulBackend set_matmul_backend(MatmulBackend function);
WindowBackend set_window_backend(WindowBackend function);

MatmulBackend matmul_backend();
// The call by the backend; nothing if the plain loops are to compute it.
std::optional<Value> window_by_backend(const OpCall& call);

// While one lives, plain loops compute the convolutions and pooling of its
// thread: what compiled programs are held against is not their own kernels.
class PlainWindows {
 public:
  PlainWindows();
  ~PlainWindows();
  PlainWindows(const PlainWindows&) = delete;
  PlainWindows& operator=(const PlainWindows&) = delete;
};

}  // namespace fxjit::ops
