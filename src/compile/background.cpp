#include "src/compile/background.h"

#include <sys/resource.h>

#include <new>
#include <system_error>
#include <utility>

#include "fxjit/log.h"
#include "src/support/errors/exception_text.h"
#include "src/support/threads/exit_order.h"

namespace fxjit {

BackgroundCompiler& BackgroundCompiler::shared() {
  static auto* const compiler = [] {
    auto* made = new BackgroundCompiler;
    // A job may use static objects of the user's and of other libraries.
    support::stop_before_statics([] { shared().stop(); });
    return made;
  }();
  return *compiler;
}

BackgroundCompiler::BackgroundCompiler()
    : fork_reset_(
          [](void* self) {
            static_cast<BackgroundCompiler*>(self)->reset_in_child();
          },
          this) {}

bool BackgroundCompiler::submit(std::function<void()> job) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return true;
    if (!start()) return false;
    jobs_.push_back(std::move(job));
  }
  wake();
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

// Lowers the priority, so that running calls come first. If the system refuses,
// the thread shares the processor with them. Threads that help to compile
// inherit the priority.
void give_way() {
  constexpr int kNicer = 5;
  const int now = getpriority(PRIO_PROCESS, 0);
  setpriority(PRIO_PROCESS, 0, now + kNicer);
}

}  // namespace

void BackgroundCompiler::work() {
  give_way();
  while (!stopping_) {
    const uint32_t seen = wakes_.load();
    if (!run_next() && !stopping_) wakes_.wait(seen);
  }
}

bool BackgroundCompiler::run_next() {
  // A fork waits until the job and all that it holds are gone, because the
  // child has no thread that would release them.
  const support::Section section;
  std::function<void()> job;
  {
    std::lock_guard lock(mutex_);
    if (jobs_.empty()) return false;
    job = std::move(jobs_.front());
    jobs_.pop_front();
  }
  try {
    job();
  } catch (...) {
    log(LogLevel::error,
        "compiling behind calls failed: " + support::exception_text());
  }
  return true;
}

void BackgroundCompiler::wake() {
  ++wakes_;
  wakes_.notify_one();
}

void BackgroundCompiler::stop() {
  std::thread thread;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    jobs_.clear();
    std::swap(thread, thread_);
  }
  wake();
  if (!thread.joinable()) return;
  // A job that calls exit(), by way of a callback, would wait for itself.
  if (thread.get_id() == std::this_thread::get_id())
    thread.detach();
  else
    thread.join();
}

// The thread stayed in the parent, and with it the claim to be joined.
void BackgroundCompiler::reset_in_child() {
  new (&thread_) std::thread;
  forked_ = true;
}

}  // namespace fxjit
