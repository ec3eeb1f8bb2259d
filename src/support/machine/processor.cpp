#include "src/support/machine/processor.h"

namespace fxjit::support {

bool host_is_intel() {
  __builtin_cpu_init();
  return __builtin_cpu_is("intel");
}

}  // namespace fxjit::support
