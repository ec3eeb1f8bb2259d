#include "src/support/threads/own_stack.h"

#include <cstdint>
#include <exception>
#include <system_error>
#include <utility>

#include "fxjit/error.h"
#include "src/support/threads/section.h"

namespace fxjit::support {

StackThread::StackThread(size_t stack_bytes, std::function<void()> work)
    : work_(std::move(work)) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  const int failed = pthread_create(&thread_, &attributes, main, this);
  pthread_attr_destroy(&attributes);
  if (failed != 0)
    throw std::system_error(failed, std::generic_category(), "pthread_create");
}

StackThread::~StackThread() { pthread_join(thread_, nullptr); }

void* StackThread::main(void* thread) {
  static_cast<StackThread*>(thread)->work_();
  return nullptr;
}

namespace {

struct StackBounds {
  uintptr_t begin = 0;
  size_t bytes = 0;
};

StackBounds own_stack_bounds() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* lowest = nullptr;
  size_t bytes = 0;
  pthread_attr_getstack(&attributes, &lowest, &bytes);
  pthread_attr_destroy(&attributes);
  return {reinterpret_cast<uintptr_t>(lowest), bytes};
}

}  // namespace

size_t stack_left() {
  // For the first thread of a process the system reads its list of mappings,
  // which is long where much code was compiled.
  thread_local const StackBounds bounds = own_stack_bounds();
  // Not the address of a local variable: sanitizers keep these elsewhere.
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return here - bounds.begin < bounds.bytes ? here - bounds.begin : 0;
}

void run_with_compile_stack(const std::function<void()>& work) {
  if (stack_left() >= kEnoughStackBytes) return work();
  std::exception_ptr failure;
  const Section section;
  try {
    const StackThread thread(kCompileStackBytes, [&] {
      const HelperScope helper;
      try {
        work();
      } catch (...) {
        failure = std::current_exception();
      }
    });
  } catch (const std::system_error&) {
    throw RuntimeError(
        "no thread to compile on: the calling one has little stack");
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace fxjit::support
