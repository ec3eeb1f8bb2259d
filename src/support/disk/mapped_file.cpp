#include "src/support/disk/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "fxjit/error.h"
#include "src/support/disk/descriptors.h"

namespace fxjit::support {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw UserError("[file] " + path + ": " + reason);
}

[[noreturn]] void fail(const std::string& path) {
  fail(path, std::generic_category().message(errno));
}

FileVersion version_of(const struct stat& facts) {
  constexpr int64_t kNanoseconds = 1'000'000'000;
  return {facts.st_dev, facts.st_ino, static_cast<uint64_t>(facts.st_size),
          facts.st_mtim.tv_sec * kNanoseconds + facts.st_mtim.tv_nsec};
}

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path) {
  // O_NONBLOCK: a pipe without a writer would block here; files ignore it.
  const Descriptor file(path.c_str(), O_RDONLY | O_NONBLOCK);
  struct stat facts;
  if (!file.open() || fstat(file.number(), &facts) != 0) fail(path);
  if (!S_ISREG(facts.st_mode))
    fail(path, "expected a regular file, got a folder or a device");
  size_ = static_cast<size_t>(facts.st_size);
  if (size_ == 0) fail(path, "expected content, got 0 bytes");
  void* start = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (start == MAP_FAILED) fail(path);
  data_ = static_cast<const std::byte*>(start);
  guard_.emplace(start, size_, version_of(facts));
}

MappedFile::~MappedFile() {
  guard_.reset();  // Before: another mapping may get these addresses.
  munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::release_pages(size_t offset, size_t length) const {
  FXJIT_CHECK(offset <= size_ && length <= size_ - offset,
              "range outside " + path_);
  if (length == 0) return;
  // Whole pages: those shared with a neighbouring range go as well, which at
  // worst reads them again.
  auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size_t begin = offset / page * page;
  madvise(const_cast<std::byte*>(data_) + begin, offset + length - begin,
          MADV_DONTNEED);
}

}  // namespace fxjit::support
