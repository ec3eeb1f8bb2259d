#include "src/support/threads/exit_order.h"

// The link redirects this library's calls of __cxa_atexit here (--wrap), by
// which static objects ask to be destroyed.

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the names that --wrap prescribes.
int __real___cxa_atexit(void (*function)(void*), void* argument, void* library);
int __wrap___cxa_atexit(void (*function)(void*), void* argument, void* library);
// The destructor of std::ios_base::Init: the last one flushes std::cout.
void flush_streams(void*) __asm__("_ZNSt8ios_base4InitD1Ev");
// NOLINTEND(bugprone-reserved-identifier)
extern void* __dso_handle;
}

namespace fxjit::support {

void stop_before_statics(void (*stop)()) {
  __real___cxa_atexit([](void* f) { reinterpret_cast<void (*)()>(f)(); },
                      reinterpret_cast<void*>(stop), &__dso_handle);
}

int keep_static(void (*function)(void*), void* argument, void* library) {
  if (function != flush_streams) return 0;
  return __real___cxa_atexit(function, argument, library);
}

}  // namespace fxjit::support

int __wrap___cxa_atexit(void (*function)(void*), void* argument,
                        void* library) {
  return fxjit::support::keep_static(function, argument, library);
}
