#include "src/support/disk/descriptors.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace fxjit::support {

Descriptor::Descriptor(const char* path, int flags, unsigned mode)
    : number_(::open(path, flags | O_CLOEXEC, mode)) {
  if (!open() || number_ > STDERR_FILENO) return;
  const int low = number_;
  number_ = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  ::close(low);
  errno = error;
}

Descriptor::~Descriptor() {
  if (open()) close();
}

bool Descriptor::write(std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t put = ::write(number_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
  return true;
}

bool Descriptor::close() { return ::close(std::exchange(number_, -1)) == 0; }

}  // namespace fxjit::support
