// Messages of the library go to one callback; nothing is printed by default
// except warnings, which go to standard error. Thread-safe.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace fxjit {

enum class LogLevel { debug, info, warning, error };

using LogCallback = std::function<void(LogLevel, std::string_view)>;

// Replaces the callback; an empty function restores the default. The callback
// may be called from any thread and must not throw.
void set_log_callback(LogCallback callback);

// Messages below `level` are dropped before they are formatted.
void set_log_level(LogLevel level);
LogLevel log_level();

void log(LogLevel level, std::string_view message);

}  // namespace fxjit
