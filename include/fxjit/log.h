// Messages of the library go to one callback. The default one prints to
// standard error: warnings and errors, or what set_log_level or FXJIT_DEBUG
// asks for. Thread-safe.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace fxjit {

// From the least to the most severe.
enum class LogLevel { debug, info, warning, error };

// Takes one message, without a line break at its end.
using LogCallback = std::function<void(LogLevel, std::string_view)>;

// Replaces the callback; an empty function restores the default. The callback
// may be called from any thread. Where it throws, whatever it throws, the
// default one prints the message and what was thrown.
void set_log_callback(LogCallback callback);

// Messages below `level` are dropped; the default callback prints all others.
// Until this is called, a callback of the user's gets messages from `info` on.
void set_log_level(LogLevel level);
LogLevel log_level();

// Gives a message to the callback, unless its level is dropped. Never throws
// what a callback throws.
void log(LogLevel level, std::string_view message);

}  // namespace fxjit
