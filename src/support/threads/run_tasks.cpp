#include "src/support/threads/run_tasks.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <list>
#include <system_error>
#include <vector>

#include "src/support/threads/own_stack.h"
#include "src/support/threads/section.h"

namespace fxjit::support {

void run_tasks(size_t count, int max_threads,
               const std::function<void(size_t)>& task) {
  std::vector<std::exception_ptr> failures(count);
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < count; i = next++) {
      try {
        task(i);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    }
  };
  const auto threads =
      std::min<size_t>(static_cast<size_t>(std::max(max_threads, 1)), count);
  // The helpers hold locks that this thread waits for.
  const Section section;
  std::list<StackThread> helpers;
  try {
    for (size_t i = 1; i < threads; ++i)
      helpers.emplace_back(kCompileStackBytes, [&work] {
        const HelperScope helper;
        work();
      });
  } catch (const std::system_error&) {
    // The system gives no more threads.
  }
  work();
  helpers.clear();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace fxjit::support
