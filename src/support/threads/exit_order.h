// The end of the process, while other threads may still compile or run a model.
// Static objects of this library and of LLVM are never destroyed, and the
// library is never unloaded (-z nodelete). Whatever must end before the static
// objects of others are destroyed registers here.
#pragma once

namespace fxjit::support {

// Runs `stop` once when the process exits, before the destructors of all static
// objects that exist now, whoever owns them. Later calls run first. `stop` must
// not throw. Thread-safe.
void stop_before_statics(void (*stop)());

// In place of __cxa_atexit: registers nothing, so that the static object at
// `argument` is never destroyed; but the standard streams are flushed at exit.
int keep_static(void (*function)(void*), void* argument, void* library);

}  // namespace fxjit::support
