// What must stop before static objects are destroyed: threads that use LLVM,
// whose function-local statics are registered for destruction at any time, also
// after the thread's own owner. Called by boxes that start such threads.
#pragma once

namespace fxjit::support {

// Runs `stop` once when the process exits or the library is unloaded, before
// any static object of the library, LLVM's included, is destroyed. Later calls
// run first. `stop` must not throw. Thread-safe.
void stop_before_statics(void (*stop)());

}  // namespace fxjit::support
