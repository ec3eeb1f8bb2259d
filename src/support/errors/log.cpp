#include "fxjit/log.h"

#include <atomic>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>

#include "src/support/errors/exception_text.h"

namespace fxjit {
namespace {

// Process-wide by nature: whoever embeds the library sets them once.
struct LogState {
  std::atomic<LogLevel> level{LogLevel::info};
  std::atomic<LogLevel> printed{LogLevel::warning};  // By the default callback.
  std::mutex mutex;
  std::shared_ptr<const LogCallback> callback;  // Null: the default.
};

LogState& state() {
  static LogState* const instance = new LogState;  // Outlives all threads.
  return *instance;
}

constexpr const char* kLevelNames[] = {"debug", "info", "warning", "error"};

void default_callback(LogLevel level, std::string_view message) {
  if (level < state().printed) return;
  std::ostringstream line;  // One write, so that threads do not interleave.
  line << "fxjit " << kLevelNames[static_cast<size_t>(level)] << ": " << message
       << '\n';
  std::cerr << line.str();
}

}  // namespace

void set_log_callback(LogCallback callback) {
  std::shared_ptr<const LogCallback> next;
  if (callback) next = std::make_shared<const LogCallback>(std::move(callback));
  std::lock_guard lock(state().mutex);
  state().callback = std::move(next);
}

void set_log_level(LogLevel level) {
  state().level = level;
  state().printed = level;
}

LogLevel log_level() { return state().level; }

void log(LogLevel level, std::string_view message) {
  if (level < log_level()) return;
  std::shared_ptr<const LogCallback> callback;
  {
    std::lock_guard lock(state().mutex);
    callback = state().callback;
  }
  // Called outside the lock: a callback may log or replace itself.
  if (!callback) return default_callback(level, message);
  try {
    (*callback)(level, message);
  } catch (...) {
    // Whoever logs, on whatever thread, is not to end by it.
    default_callback(level, message);
    default_callback(LogLevel::error,
                     "the log callback threw: " + support::exception_text());
  }
}

}  // namespace fxjit
