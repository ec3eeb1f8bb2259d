#include "src/support/disk/trusted_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace fxjit::support {

TrustedFile::TrustedFile(const std::filesystem::path& path)
    // A pipe must not block us, a link must not lead us elsewhere.
    : file_(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK) {
  if (!open()) {
    absent_ = errno != ELOOP;
    return;
  }
  struct stat status;
  const bool trusted = fstat(descriptor(), &status) == 0 &&
                       (status.st_uid == geteuid() || status.st_uid == 0) &&
                       S_ISREG(status.st_mode);
  if (trusted)
    size_ = static_cast<uint64_t>(status.st_size);
  else
    file_.close();
}

bool TrustedFile::read(uint64_t offset, void* into, size_t bytes) const {
  auto* at = static_cast<char*>(into);
  while (bytes > 0) {
    const ssize_t got =
        ::pread(descriptor(), at, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace fxjit::support
