#include "src/support/executable_memory.h"

#include <sys/mman.h>
#include <unistd.h>

namespace fxjit::support {

bool executable_memory_allowed() {
  const auto page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* page = mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  *static_cast<volatile char*>(page) = 0;  // SELinux looks at touched pages.
  const bool allowed = mprotect(page, page_bytes, PROT_READ | PROT_EXEC) == 0;
  munmap(page, page_bytes);
  return allowed;
}

}  // namespace fxjit::support
