// Whether this process may turn written memory into code. Hardened hosts deny
// it (SELinux, systemd's MemoryDenyWriteExecute, prctl(PR_SET_MDWE)); then
// neither our JIT nor oneDNN's may run. Asked by compile/ and the linker.
#pragma once

namespace fxjit::support {

// Tries it on one page each time, as a process can give the right up at any
// moment: a few microseconds. Thread-safe.
bool executable_memory_allowed();

}  // namespace fxjit::support
