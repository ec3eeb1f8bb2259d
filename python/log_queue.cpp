#include "python/log_queue.h"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fxjit/log.h"

namespace fxjit::python {
namespace {

namespace nb = nanobind;

struct Message {
  LogLevel level;
  std::string text;
};

struct Queue {
  std::mutex mutex;
  std::vector<Message> messages;
  std::atomic<bool> waits = false;  // Whether there are any.
};

Queue& queue() {
  static Queue* const instance = new Queue;  // Outlives all threads.
  return *instance;
}

// Whether it says of a function of PyTorch's, as graphs.py names those, that
// the interpreter runs it. graphs.py has said so already, in one line for a
// graph.
bool is_known(const Message& message) {
  return message.text.find("[python.") != std::string::npos;
}

// A level of Python's logging.
int level_of(const Message& message) {
  if (is_known(message)) return 20;
  switch (message.level) {
    case LogLevel::debug:
      return 10;
    case LogLevel::info:
      return 20;
    case LogLevel::warning:
      return 30;
    case LogLevel::error:
      return 40;
  }
  return 0;
}

std::vector<Message> taken() {
  std::lock_guard lock(queue().mutex);
  queue().waits = false;
  return std::exchange(queue().messages, {});
}

int deliver_pending(void*) {
  deliver_messages();
  return 0;
}

// The interpreter is asked, too: a thread of the library's own delivers
// nothing.
void put(LogLevel level, std::string_view text) {
  bool first = false;
  {
    std::lock_guard lock(queue().mutex);
    queue().messages.push_back({level, std::string(text)});
    first = !queue().waits.exchange(true);
  }
  // Where it takes no more, the next call of a model delivers.
  if (first) static_cast<void>(Py_AddPendingCall(deliver_pending, nullptr));
}

// Python's logger. It is not looked up for each message: that would need the
// builtins of whatever code is running, which may have none.
nb::handle& logger() {
  static nb::handle instance;
  return instance;
}

void give(const Message& message) {
  logger().attr("log")(level_of(message), "%s", message.text.c_str());
}

}  // namespace

void deliver_messages() noexcept {
  if (!queue().waits) return;
  for (const Message& message : taken()) {
    try {
      give(message);
    } catch (nb::python_error& error) {
      // Ctrl-C came here by chance: it comes again where it can end a call.
      if (error.matches(PyExc_KeyboardInterrupt))
        PyErr_SetInterrupt();
      else
        error.discard_as_unraisable("a handler of the logger fxjit");
    }
  }
}

void register_logging(nb::module_& module) {
  if (std::getenv("FXJIT_DEBUG")) return;
  logger() =
      nb::module_::import_("logging").attr("getLogger")("fxjit").release();
  set_log_callback(put);
  module.def("_end_logging", [] {
    set_log_callback({});
    deliver_messages();
  });
  nb::module_::import_("atexit").attr("register")(module.attr("_end_logging"));
}

}  // namespace fxjit::python
