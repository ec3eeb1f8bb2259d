#include "src/compile/background.h"

#include "src/support/exit_order.h"

namespace fxjit {

BackgroundCompiler& BackgroundCompiler::shared() {
  static BackgroundCompiler compiler;
  // A job uses LLVM's static objects: it must end before they do.
  static const bool stops_first =
      (support::stop_before_statics([] { compiler.stop(); }), true);
  static_cast<void>(stops_first);
  return compiler;
}

void BackgroundCompiler::submit(std::function<void()> job) {
  std::lock_guard lock(mutex_);
  if (stopping_) return;
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  jobs_.push_back(std::move(job));
  wake_.notify_one();
}

void BackgroundCompiler::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
    if (stopping_) return;
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
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

}  // namespace fxjit
