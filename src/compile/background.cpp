#include "src/compile/background.h"

#include <pthread.h>
#include <sys/resource.h>

#include <new>
#include <system_error>
#include <utility>

#include "src/support/exit_order.h"

namespace fxjit {

BackgroundCompiler& BackgroundCompiler::shared() {
  static BackgroundCompiler compiler;
  // A job uses LLVM's static objects: it must end before they do.
  static const bool stops_first =
      (support::stop_before_statics([] { compiler.stop(); }), true);
  static const int watches_forks = pthread_atfork(
      [] { compiler.lock_for_fork(); }, [] { compiler.unlock_after_fork(); },
      [] { compiler.reset_in_child(); });
  static_cast<void>(stops_first);
  static_cast<void>(watches_forks);
  return compiler;
}

bool BackgroundCompiler::submit(std::function<void()> job) {
  std::lock_guard lock(mutex_);
  if (stopping_) return true;
  if (!start()) return false;
  jobs_.push_back(std::move(job));
  wake_.notify_one();
  return true;
}

bool BackgroundCompiler::start() {
  if (thread_.joinable()) return true;
  try {
    thread_ = std::thread([this] { work(); });
  } catch (const std::system_error&) {
    return false;
  }
  forked_ = false;
  return true;
}

void BackgroundCompiler::restart() {
  std::lock_guard lock(mutex_);
  if (!stopping_ && !jobs_.empty()) start();
}

namespace {

// Calls that are being served come first; where the system refuses, they share.
// Threads that help the calling one to compile inherit it.
void give_way() {
  constexpr int kNicer = 5;
  const int now = getpriority(PRIO_PROCESS, 0);
  setpriority(PRIO_PROCESS, 0, now + kNicer);
}

}  // namespace

void BackgroundCompiler::work() {
  give_way();
  while (true) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
    }
    // In the order of lock_for_fork, so that a fork comes between jobs: when
    // one and all that it held are gone. A child would have neither the thread
    // that lets go of it nor the locks which that takes.
    std::lock_guard running(running_);
    std::function<void()> job;
    {
      std::lock_guard lock(mutex_);
      if (stopping_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job();
  }
}

BackgroundCompiler::~BackgroundCompiler() { stop(); }

void BackgroundCompiler::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    jobs_.clear();
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void BackgroundCompiler::lock_for_fork() {
  // A job that forks, by way of a log callback, would wait for itself.
  mutex_.lock();
  const bool itself = thread_.get_id() == std::this_thread::get_id();
  if (!itself) {
    mutex_.unlock();
    running_.lock();
    mutex_.lock();
  }
  forks_itself_ = itself;
}

void BackgroundCompiler::unlock_after_fork() {
  const bool itself = forks_itself_;
  mutex_.unlock();
  if (!itself) running_.unlock();
}

// The thread stayed in the parent, and with it the claim to be joined; who
// waited for wake_ is not here either.
void BackgroundCompiler::reset_in_child() {
  new (&thread_) std::thread;
  new (&wake_) std::condition_variable;
  forked_ = true;
  unlock_after_fork();
}

}  // namespace fxjit
