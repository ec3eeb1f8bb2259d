#include "fxjit/log.h"

#include <atomic>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>

namespace fxjit {
namespace {

// Process-wide by nature: whoever embeds the library sets them once.
struct LogState {
  std::atomic<LogLevel> level{LogLevel::info};
  std::mutex mutex;
  std::shared_ptr<const LogCallback> callback;  // Null: the default.
};

LogState& state() {
  static LogState* const instance = new LogState;  // Outlives all threads.
  return *instance;
}

void default_callback(LogLevel level, std::string_view message) {
  if (level < LogLevel::warning) return;
  std::ostringstream line;  // One write, so that threads do not interleave.
  line << "fxjit " << (level == LogLevel::error ? "error: " : "warning: ")
       << message << '\n';
  std::cerr << line.str();
}

}  // namespace

void set_log_callback(LogCallback callback) {
  std::shared_ptr<const LogCallback> next;
  if (callback) next = std::make_shared<const LogCallback>(std::move(callback));
  std::lock_guard lock(state().mutex);
  state().callback = std::move(next);
}

void set_log_level(LogLevel level) { state().level = level; }

LogLevel log_level() { return state().level; }

void log(LogLevel level, std::string_view message) {
  if (level < log_level()) return;
  std::shared_ptr<const LogCallback> callback;
  {
    std::lock_guard lock(state().mutex);
    callback = state().callback;
  }
  // Called outside the lock: a callback may log or replace itself.
  if (callback)
    (*callback)(level, message);
  else
    default_callback(level, message);
}

}  // namespace fxjit
