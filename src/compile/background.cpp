#include "src/compile/background.h"

namespace fxjit {

BackgroundCompiler& BackgroundCompiler::shared() {
  static BackgroundCompiler compiler;
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

BackgroundCompiler::~BackgroundCompiler() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    jobs_.clear();
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

}  // namespace fxjit
