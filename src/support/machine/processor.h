// Who made this machine's processor, for rules that were measured on both.
#pragma once

namespace fxjit::support {

inline bool host_is_intel() {
  __builtin_cpu_init();
  return __builtin_cpu_is("intel");
}

}  // namespace fxjit::support
