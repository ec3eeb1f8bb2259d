// Ctrl-C and other signals while native code runs.
#pragma once

#include <functional>

namespace fxjit::python {

// CompileOptions::interrupted of models: a loop asks it, and Python's handlers
// then run, if signals came, every few milliseconds and in Python's main thread
// alone. What a handler raises is thrown (KeyboardInterrupt, say).
std::function<bool()> interrupted_by_signals();

}  // namespace fxjit::python
