// Passes messages of the library on to Python's logger "fxjit". The thread that
// logs may hold locks of the library, run on a stack of its own or be unknown
// to Python. So it only puts the message into a queue, and a thread that holds
// the GIL takes it from there.
#pragma once

#include <nanobind/nanobind.h>

namespace fxjit::python {

// From now until Python ends, messages go to the logger. With FXJIT_DEBUG set
// they are printed instead, as in programs without Python.
void register_logging(nanobind::module_& module);

// Gives the messages in the queue to the logger. Needs the GIL. What a handler
// throws is reported as Python reports errors in destructors.
void deliver_messages() noexcept;

// Releases the GIL while it lives. When it has the GIL back, it delivers the
// messages in the queue.
class Unlocked {
 private:
  struct Delivery {
    ~Delivery() { deliver_messages(); }
  };
  Delivery delivery_;  // Destroyed last.
  nanobind::gil_scoped_release released_;
};

}  // namespace fxjit::python
