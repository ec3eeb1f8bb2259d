// Messages of the library on their way to Python's logger "fxjit". The threads
// that log may hold locks of the library, run on a stack of its own or be
// unknown to Python, so they only put a message into a queue; a thread that
// holds the GIL takes it from there.
#pragma once

#include <nanobind/nanobind.h>

namespace fxjit::python {

// Messages go to the logger from now until Python ends. With FXJIT_DEBUG set
// they are printed, as in programs without Python.
void register_logging(nanobind::module_& module);

// Gives the logger what the queue holds. Needs the GIL. What handlers throw is
// reported as Python reports errors of destructors.
void deliver_messages() noexcept;

// Releases the GIL for its lifetime, and delivers once it has the GIL back.
class Unlocked {
 private:
  struct Delivery {
    ~Delivery() { deliver_messages(); }
  };
  Delivery delivery_;  // Destroyed last.
  nanobind::gil_scoped_release released_;
};

}  // namespace fxjit::python
