// One thread for the whole process, which compiles new shapes while the
// interpreter serves the calls. Its priority is lower than theirs. It is
// started on first use and joined at exit. Each job is a support::Section:
// fork() waits for the running job to end, and the child's own thread goes on
// with the waiting ones.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "src/support/threads/section.h"

namespace fxjit {

class BackgroundCompiler {
 public:
  static BackgroundCompiler& shared();

  // Runs `job` later. The job must keep alive what it needs; what it throws is
  // logged. Jobs that still wait when the process exits are dropped. Returns
  // false, and drops the job, if the system gives no thread.
  bool submit(std::function<void()> job);

  // Must be called after a fork, so that waiting jobs are done in the child as
  // well. Costs nothing if there was no fork.
  void resume() {
    if (forked_.load(std::memory_order_relaxed)) restart();
  }

 private:
  BackgroundCompiler();
  bool start();  // With mutex_ held. False: no thread to be had.
  void restart();
  void work();
  bool run_next();  // False when no job was waiting.
  void wake();
  void stop();  // Drops waiting jobs and waits for the running one.
  void reset_in_child();

  std::mutex mutex_;  // Guards what follows, up to stopping_.
  std::deque<std::function<void()>> jobs_;
  std::thread thread_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> forked_ = false;
  std::atomic<uint32_t> wakes_ = 0;  // What the idle thread waits on.
  support::ForkReset fork_reset_;
};

}  // namespace fxjit
