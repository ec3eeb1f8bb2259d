// Coarse independent tasks (one compilation each) on threads made for the
// purpose. The pool of fxjit/thread_pool.h is for running programs.
#pragma once

#include <cstddef>
#include <functional>

namespace fxjit::support {

// Calls task(i) once for each i below `count`, on this thread and up to
// `max_threads` - 1 others; tasks begin in the order of i. Where the system
// gives fewer threads, those there are do it all. Returns once every task has
// ended, also where some threw; then throws what the first of those, by i,
// threw.
void run_tasks(size_t count, int max_threads,
               const std::function<void(size_t)>& task);

}  // namespace fxjit::support
