// Ctrl-C and other signals while native code runs.
#pragma once

#include <functional>

namespace fxjit::python {

// Makes CompileOptions::interrupted of models. A loop calls it before each
// iteration. Every few milliseconds, and in Python's main thread alone, it runs
// Python's handlers of signals that have come. What a handler raises is thrown,
// such as KeyboardInterrupt.
std::function<bool()> interrupted_by_signals();

}  // namespace fxjit::python
