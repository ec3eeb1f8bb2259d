#include "src/support/memory/executable_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace fxjit::support {

bool executable_memory_allowed() {
  const auto page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* page = mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  // Without memory nothing is known; what needs it will fail for that reason.
  if (page == MAP_FAILED) return errno == ENOMEM;
  *static_cast<volatile char*>(page) = 0;  // SELinux looks at touched pages.
  const bool allowed =
      mprotect(page, page_bytes, PROT_READ | PROT_EXEC) == 0 || errno == ENOMEM;
  munmap(page, page_bytes);
  return allowed;
}

}  // namespace fxjit::support
