// One thread per process that compiles new shapes while calls go on with the
// interpreter. Started on first use, joined at exit.
#pragma once

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
  // Jobs still waiting when the process exits are dropped.
  void submit(std::function<void()> job);

  ~BackgroundCompiler();

 private:
  BackgroundCompiler() = default;
  void work();
  void stop();  // Drops waiting jobs and waits for the running one.

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace fxjit
