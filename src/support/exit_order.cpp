#include "src/support/exit_order.h"

#include <mutex>

// The link redirects this library's calls of __cxa_atexit here (--wrap). They
// are kept in a list of our own, and one handler, registered with the system at
// the first of them, first runs the stops and then the list in reverse.

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the names that --wrap prescribes.
int __real___cxa_atexit(void (*function)(void*), void* argument, void* library);
int __wrap___cxa_atexit(void (*function)(void*), void* argument, void* library);
// NOLINTEND(bugprone-reserved-identifier)
extern void* __dso_handle;
}

namespace fxjit::support {
namespace {

struct Handler {
  void (*function)(void*);
  void* argument;
  Handler* next;
};

// Initialised before any constructor runs, and never destroyed.
constinit std::mutex mutex;
constinit Handler* stops = nullptr;
constinit Handler* destructors = nullptr;
constinit bool registered = false;

Handler* pop(Handler*& list) {
  std::lock_guard lock(mutex);
  Handler* first = list;
  if (first != nullptr) list = first->next;
  return first;
}

// A handler may register further ones: lists are read anew each time.
void run_all(Handler*& list) {
  while (Handler* handler = pop(list)) {
    handler->function(handler->argument);
    delete handler;
  }
}

void at_exit(void*) {
  {
    // Unloading runs this before the process exits: begin anew then.
    std::lock_guard lock(mutex);
    registered = false;
  }
  run_all(stops);
  run_all(destructors);
}

int push(Handler*& list, void (*function)(void*), void* argument) {
  auto* handler = new Handler{function, argument, nullptr};
  std::lock_guard lock(mutex);
  if (!registered) {
    const int failed = __real___cxa_atexit(at_exit, nullptr, &__dso_handle);
    if (failed != 0) {
      delete handler;
      return failed;
    }
    registered = true;
  }
  handler->next = list;
  list = handler;
  return 0;
}

}  // namespace

void stop_before_statics(void (*stop)()) {
  push(
      stops, [](void* f) { reinterpret_cast<void (*)()>(f)(); },
      reinterpret_cast<void*>(stop));
}

}  // namespace fxjit::support

int __wrap___cxa_atexit(void (*function)(void*), void* argument, void*) {
  return fxjit::support::push(fxjit::support::destructors, function, argument);
}
