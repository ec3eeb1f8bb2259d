#include "src/support/disk/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "src/support/disk/descriptors.h"
#include "src/support/disk/mapped_file.h"

namespace fxjit::support {

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
  static std::atomic<uint64_t> counter = 0;
  temporary_ = path + ".tmp-" + std::to_string(getpid()) + "-" +
               std::to_string(counter++);
  descriptor_ = above_standard(
      ::open(temporary_.c_str(),
             O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (descriptor_ < 0) fail("cannot be created");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::fail(const char* doing) {
  const int error = errno;
  const FileError::Kind kind =
      error == ENOENT || error == ENOTDIR ? FileError::Kind::missing
      : error == EACCES || error == EPERM || error == EROFS
          ? FileError::Kind::permission
          : FileError::Kind::failed;
  throw FileError(kind, path_,
                  std::string(doing) + ": " + std::strerror(error));
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail("cannot be written");
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
}

void AtomicFile::commit() {
  if (::fsync(descriptor_) != 0) fail("cannot be written");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0)
    fail("cannot be put in place");
  ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace fxjit::support
