// Every lock that this library or LLVM takes, and every static object and
// once_flag that they initialise, is a section: the link redirects the calls
// below to here (--wrap). A condition variable releases its mutex inside
// libstdc++, where nothing is redirected, and would make fork() wait for who
// waits for it; the library has none.
#include <pthread.h>

#include "src/support/threads/section.h"

using fxjit::support::begin_section;
using fxjit::support::end_section;
using fxjit::support::Section;

namespace {

// The section begins before the lock is taken: no fork comes between.
template <typename Lock>
int take(int (*real)(Lock*), Lock* lock) {
  begin_section();
  const int failed = real(lock);
  if (failed != 0) end_section();
  return failed;
}

template <typename Lock>
int give_back(int (*real)(Lock*), Lock* lock) {
  const int failed = real(lock);
  if (failed == 0) end_section();
  return failed;
}

}  // namespace

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the names that --wrap prescribes.
int __real_pthread_mutex_lock(pthread_mutex_t* mutex);
int __real_pthread_mutex_trylock(pthread_mutex_t* mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t* mutex);
int __real_pthread_rwlock_rdlock(pthread_rwlock_t* lock);
int __real_pthread_rwlock_tryrdlock(pthread_rwlock_t* lock);
int __real_pthread_rwlock_wrlock(pthread_rwlock_t* lock);
int __real_pthread_rwlock_trywrlock(pthread_rwlock_t* lock);
int __real_pthread_rwlock_unlock(pthread_rwlock_t* lock);
int __real_pthread_once(pthread_once_t* once, void (*routine)());
int __real___cxa_guard_acquire(void* guard);
void __real___cxa_guard_release(void* guard);
void __real___cxa_guard_abort(void* guard);

int __wrap_pthread_mutex_lock(pthread_mutex_t* mutex) {
  return take(__real_pthread_mutex_lock, mutex);
}
int __wrap_pthread_mutex_trylock(pthread_mutex_t* mutex) {
  return take(__real_pthread_mutex_trylock, mutex);
}
int __wrap_pthread_mutex_unlock(pthread_mutex_t* mutex) {
  return give_back(__real_pthread_mutex_unlock, mutex);
}

int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  return take(__real_pthread_rwlock_rdlock, lock);
}
int __wrap_pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) {
  return take(__real_pthread_rwlock_tryrdlock, lock);
}
int __wrap_pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  return take(__real_pthread_rwlock_wrlock, lock);
}
int __wrap_pthread_rwlock_trywrlock(pthread_rwlock_t* lock) {
  return take(__real_pthread_rwlock_trywrlock, lock);
}
int __wrap_pthread_rwlock_unlock(pthread_rwlock_t* lock) {
  return give_back(__real_pthread_rwlock_unlock, lock);
}

int __wrap_pthread_once(pthread_once_t* once, void (*routine)()) {
  const Section section;
  return __real_pthread_once(once, routine);
}

// Static objects of functions: from the first look at the guard to the end of
// their constructor.
int __wrap___cxa_guard_acquire(void* guard) {
  begin_section();
  const int mine = __real___cxa_guard_acquire(guard);
  if (mine == 0) end_section();
  return mine;
}
void __wrap___cxa_guard_release(void* guard) {
  __real___cxa_guard_release(guard);
  end_section();
}
void __wrap___cxa_guard_abort(void* guard) {
  __real___cxa_guard_abort(guard);
  end_section();
}
// NOLINTEND(bugprone-reserved-identifier)
}
