#include "fxjit/version.h"
#include "fxjit/compile.h"
#include "jit/engine/compiler.h"
#include "kernels/kernels.h"
#include "src/support/memory/aligned_block.h"
#include "src/support/memory/executable_memory.h"

namespace fxjit {

std::string version_text() {
  std::string text = "fxjit " FXJIT_VERSION_STRING;
  text += "\nLLVM " + jit::llvm_version();
  text += "\noneDNN " + kernels::onednn_version();
  text += "\nCPU level " + std::string(cpu_level_name(host_cpu_level())) +
          " (" + jit::host_cpu_name() + ")";
  text += "\nhuge pages " + support::transparent_huge_page_state();
  text += std::string("\nexecutable memory ") +
          (support::executable_memory_allowed() ? "allowed" : "denied");
  return text;
}

}  // namespace fxjit
