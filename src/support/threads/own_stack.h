// Threads with a stack of known size: compiling needs more than a thread of the
// host program may have, and than the default of a process may give.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <functional>

namespace fxjit::support {

// What compiling one program gets. It takes a few hundred KB; passes and code
// generation recurse with the depth of expressions.
inline constexpr size_t kCompileStackBytes = size_t{8} << 20;
// With this much left, it stays on the thread that asks for it.
inline constexpr size_t kEnoughStackBytes = size_t{2} << 20;

// Runs `work`, which must not throw, on a new thread and is joined when it is
// destroyed. Throws std::system_error when the system gives no thread.
class StackThread {
 public:
  StackThread(size_t stack_bytes, std::function<void()> work);
  ~StackThread();
  StackThread(const StackThread&) = delete;
  StackThread& operator=(const StackThread&) = delete;

 private:
  static void* main(void* thread);

  const std::function<void()> work_;
  pthread_t thread_ = {};
};

// Bytes of stack that the calling thread has left; 0 when it runs on memory
// that is not its thread's stack, as coroutines do.
size_t stack_left();

// Runs `work` here when kEnoughStackBytes are left, else on a thread with a
// stack of kCompileStackBytes while the caller waits, inside a section of its
// own. Throws what `work` throws; RuntimeError when the system gives no thread.
void run_with_compile_stack(const std::function<void()>& work);

}  // namespace fxjit::support
