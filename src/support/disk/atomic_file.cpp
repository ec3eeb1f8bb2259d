#include "src/support/disk/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "fxjit/error.h"

namespace fxjit::support {
namespace {

std::string temporary_beside(const std::string& path) {
  static std::atomic<uint64_t> counter = 0;
  return path + ".tmp-" + std::to_string(getpid()) + "-" +
         std::to_string(counter++);
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path)
    : path_(path),
      temporary_(temporary_beside(path)),
      file_(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW) {
  if (!file_.open()) fail("cannot be created");
}

AtomicFile::~AtomicFile() {
  if (file_.open()) ::unlink(temporary_.c_str());
}

void AtomicFile::fail(const char* doing) {
  const char* const reason = std::strerror(errno);
  throw UserError("[file] " + path_ + ": " + doing + ": " + reason);
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  if (!file_.write(bytes)) fail("cannot be written");
}

void AtomicFile::commit() {
  if (::fsync(file_.number()) != 0) fail("cannot be written");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0)
    fail("cannot be put in place");
  file_.close();
}

}  // namespace fxjit::support
