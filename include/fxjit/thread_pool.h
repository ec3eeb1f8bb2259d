// The thread pool that generated loops, eager functions and oneDNN calls share.
// The calling thread takes part in its own regions; workers spin for a bounded
// time between regions and then sleep. Called by Executable::run, by eager
// functions and from any number of request threads at the same time.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>

namespace fxjit::support {

class ThreadPool {
 public:
  // Runs tasks [begin, end) of a region. `thread_index` is below the region's
  // `max_threads` and held by one thread at a time: index per-thread scratch
  // with it. Must not throw (the process terminates if it does).
  using TaskFn = void (*)(void* context, int64_t begin, int64_t end,
                          int thread_index);

  struct Options {
    // Threads of one region, the caller included; 0 means available_cpus().
    // Fewer when the system refuses to start them.
    int threads = 0;
    // How long an idle worker polls for work before it sleeps, and how long a
    // caller polls for the last chunks of others.
    std::chrono::nanoseconds spin = std::chrono::microseconds(100);
  };

  ThreadPool();  // Default options.
  explicit ThreadPool(const Options& options);
  // No region may be running and no RequestScope may be open.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // The process-wide pool: made on first use with the affinity of the calling
  // thread, never destroyed, so usable until the process ends. In a forked
  // child this and every other pool of the parent starts threads of its own
  // when it is first used there.
  static ThreadPool& shared();

  // Most threads that can take part in one region; at least 1.
  int size() const;

  // Calls `fn` over disjoint ranges that cover [0, tasks), each of at most
  // `chunk` tasks, on up to `max_threads` threads, and returns when all are
  // done; their writes are visible to the caller then. Threads claim chunks as
  // they go: the caller never waits for a worker that has not claimed one.
  // Chunks are enlarged where there would be more than kMaxChunks of them.
  //
  // Runs inline, as a single fn(context, 0, tasks, 0), when max_threads <= 1,
  // when tasks <= chunk, when called from within a task of any pool, and
  // when as many request threads as CPUs are already active.
  // Thread-safe.
  void parallel_for(int64_t tasks, TaskFn fn, void* context, int max_threads,
                    int64_t chunk = 1) noexcept {
    if (max_threads > 1 && tasks > chunk) {
      run_region(tasks, fn, context, max_threads, chunk);
    } else if (tasks > 0) {
      fn(context, 0, tasks, 0);
    }
  }

  // The same for a callable body(begin, end, thread_index).
  template <typename Body>
    requires std::invocable<Body&, int64_t, int64_t, int>
  void parallel_for(int64_t tasks, Body&& body, int max_threads,
                    int64_t chunk = 1) noexcept {
    auto* pointer = std::addressof(body);
    auto call = [](void* context, int64_t begin, int64_t end, int thread) {
      (*static_cast<decltype(pointer)>(context))(begin, end, thread);
    };
    parallel_for(tasks, +call, const_cast<void*>(as_void(pointer)), max_threads,
                 chunk);
  }

  // Every worker calls `hook` once, before its first task of any region that
  // begins after this returns. At most kMaxHooks different hooks; a hook that
  // is known already is not added again. Callers of parallel_for do not run
  // hooks. Thread-safe. Throws RuntimeError when there are too many.
  void on_thread_start(void (*hook)());

  // Marks the calling thread as busy with a request for the scope's lifetime,
  // serial parts included, so that workers stay away from the CPUs of other
  // request threads. Held by Executable::run; scopes nest. Optional: without
  // it a caller counts only while it is inside a region.
  class RequestScope {
   public:
    explicit RequestScope(ThreadPool& pool);
    ~RequestScope();
    RequestScope(const RequestScope&) = delete;
    RequestScope& operator=(const RequestScope&) = delete;

   private:
    void* outer_pool_;
    void* pool_;  // Null when an enclosing scope counts already.
  };

  static constexpr int64_t kMaxChunks = 4095;
  static constexpr int kMaxThreads = 255;
  static constexpr int kMaxHooks = 8;

 private:
  class Impl;

  static const void* as_void(const void* pointer) { return pointer; }
  void run_region(int64_t tasks, TaskFn fn, void* context, int max_threads,
                  int64_t chunk) noexcept;

  std::unique_ptr<Impl> impl_;
};

}  // namespace fxjit::support
