// Keeps a process alive when a file that it has mapped is cut off: reading
// behind the new end raises SIGBUS, whose default action ends the process. Off
// until a server turns it on, because signal handlers belong to the program.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fxjit::support {

// Identifies a version of a file, by numbers from stat().
struct FileVersion {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t bytes = 0;
  int64_t modified_ns = 0;
  bool operator==(const FileVersion&) const = default;
};

// From now on a read of a guarded range that its file no longer covers gives
// zeros, and the range counts as lost. SIGBUS elsewhere goes to the handler
// that was there before. Thread-safe; further calls do nothing. Throws
// InternalError where the system refuses the handler.
void guard_mapped_files();

// The versions of all files with a lost range that is still mapped. Whatever
// was computed from such a file since is worthless. Thread-safe.
std::vector<FileVersion> lost_files();

// Guards [data, data + size), a mapping of `file`, while this object lives.
// There is room for some thousand ranges; a read behind the end of a file in a
// further one ends the process.
class GuardedRange {
 public:
  GuardedRange(const void* data, size_t size, FileVersion file);
  ~GuardedRange();
  GuardedRange(const GuardedRange&) = delete;
  GuardedRange& operator=(const GuardedRange&) = delete;

 private:
  size_t slot_;
};

}  // namespace fxjit::support
