#include "src/support/memory/clean_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

#include "src/support/disk/descriptors.h"

namespace fxjit::support {
namespace {

// An entry of /proc/self/pagemap (the kernel's admin-guide/mm/pagemap.rst).
constexpr uint64_t kPresent = uint64_t{1} << 63, kSwapped = uint64_t{1} << 62,
                   kOfFile = uint64_t{1} << 61;

// A written page is anonymous, in memory or swapped.
bool is_clean(uint64_t entry) {
  return entry & kPresent ? (entry & kOfFile) != 0 : (entry & kSwapped) == 0;
}

}  // namespace

void release_clean_pages(const std::byte* begin, size_t bytes) {
  if (bytes == 0) return;
  const auto size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t first = reinterpret_cast<uintptr_t>(begin) / size;
  const uintptr_t last =
      (reinterpret_cast<uintptr_t>(begin) + bytes - 1) / size;
  std::vector<uint64_t> entries(last - first + 1);
  const Descriptor map("/proc/self/pagemap", O_RDONLY);
  const size_t wanted = entries.size() * sizeof(uint64_t);
  const ssize_t got = map.open()
                          ? pread(map.number(), entries.data(), wanted,
                                  static_cast<off_t>(first * sizeof(uint64_t)))
                          : -1;
  if (got != static_cast<ssize_t>(wanted)) return;
  for (size_t i = 0; i < entries.size();) {
    size_t end = i;
    while (end < entries.size() && is_clean(entries[end])) ++end;
    if (end > i)
      madvise(reinterpret_cast<void*>((first + i) * size), (end - i) * size,
              MADV_DONTNEED);
    i = end + 1;
  }
}

}  // namespace fxjit::support
