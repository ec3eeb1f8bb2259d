// The end of the process, which other threads may see while they compile or run
// a model. Static objects of this library and of LLVM are never destroyed, and
// the library stays loaded (-z nodelete); what must end before those of others
// are destroyed is said here.
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
