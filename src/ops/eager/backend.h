// Lets higher folders replace the loops of the interpreter's products, which
// its convolutions are made of: the kernels folder installs a faster function
// when the process starts. Without it the plain loops of this folder run.
#pragma once

namespace fxjit::ops {

struct MatmulArgs;

// The function computes the call and returns true, or returns false to leave it
// to the plain loop; a null function leaves all calls. It must be thread-safe
// and may be called from several threads at a time.
struct Backend {
  bool (*matmul)(const MatmulArgs& args) = nullptr;
};

// Installs `backend`, which must live until another one is installed, and
// returns the one before. Thread-safe.
const Backend& set_backend(const Backend& backend);
const Backend& backend();

}  // namespace fxjit::ops
