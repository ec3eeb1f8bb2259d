// One thread per process that compiles new shapes while calls go on with the
// interpreter, at a lower priority than theirs. Started on first use, joined at
// exit. A job is a section: fork() waits until the one that runs is destroyed,
// and a thread of the child's own then goes on with what was waiting.
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

  // Runs `job` later. It must keep alive what it needs; what it throws is
  // logged. Jobs still waiting when the process exits are dropped. False when
  // the system gives no thread: then nothing was taken.
  bool submit(std::function<void()> job);

  // After a fork: sees to it that waiting jobs are done here, too. Costs
  // nothing where there was none.
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
