// One thread per process that compiles new shapes while calls go on with the
// interpreter, at a lower priority than theirs. Started on first use, joined at
// exit. fork() waits until the job that runs has ended and is destroyed, so
// that the child inherits no lock of a compilation and no memory that only the
// thread knew; a thread of the child's own then goes on with what was waiting.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace fxjit {

class BackgroundCompiler {
 public:
  static BackgroundCompiler& shared();

  // Runs `job` later. It must keep alive what it needs and must not throw.
  // Jobs still waiting when the process exits are dropped. False when the
  // system gives no thread: then nothing was taken.
  bool submit(std::function<void()> job);

  // After a fork: sees to it that waiting jobs are done here, too. Costs
  // nothing where there was none.
  void resume() {
    if (forked_.load(std::memory_order_relaxed)) restart();
  }

  ~BackgroundCompiler();

 private:
  BackgroundCompiler() = default;
  bool start();  // With mutex_ held. False: no thread to be had.
  void restart();
  void work();
  void stop();  // Drops waiting jobs and waits for the running one.

  // Around fork().
  void lock_for_fork();
  void unlock_after_fork();
  void reset_in_child();

  std::mutex mutex_;
  std::mutex running_;  // Held while a job is there; taken before mutex_.
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  bool stopping_ = false;
  std::atomic<bool> forked_ = false;
  bool forks_itself_ = false;  // A job called fork().
  std::thread thread_;
};

}  // namespace fxjit
