#include "src/support/disk/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "src/support/disk/descriptors.h"

namespace fxjit::support {
namespace {

using Kind = FileError::Kind;

[[noreturn]] void throw_errno(const std::string& path, int error) {
  Kind kind = Kind::failed;
  if (error == ENOENT || error == ENOTDIR) kind = Kind::missing;
  if (error == EACCES || error == EPERM) kind = Kind::permission;
  if (error == ENXIO || error == ENODEV) kind = Kind::not_regular;
  if (error == ENOMEM || error == EOVERFLOW) kind = Kind::too_large;
  throw FileError(kind, path, std::generic_category().message(error));
}

class Descriptor {
 public:
  // O_NONBLOCK: a pipe without a writer would block here; files ignore it.
  explicit Descriptor(const std::string& path)
      : number_(above_standard(
            open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK))) {
    if (number_ < 0) throw_errno(path, errno);
  }
  ~Descriptor() { close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

FileError::FileError(Kind kind, const std::string& path,
                     const std::string& reason)
    : UserError("[file] " + path + ": " + reason), kind_(kind), path_(path) {}

MappedFile::MappedFile(const std::string& path, uint64_t max_bytes)
    : path_(path) {
  Descriptor file(path);
  struct stat facts;
  if (fstat(file.number(), &facts) != 0) throw_errno(path, errno);
  if (!S_ISREG(facts.st_mode))
    throw FileError(Kind::not_regular, path,
                    "expected a regular file, got a folder or a device");
  auto bytes = static_cast<uint64_t>(facts.st_size);
  if (bytes == 0)
    throw FileError(Kind::empty, path, "expected content, got 0 bytes");
  if (bytes > max_bytes)
    throw FileError(Kind::too_large, path,
                    "expected at most " + std::to_string(max_bytes) +
                        " bytes, got " + std::to_string(bytes));
  void* start = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (start == MAP_FAILED) throw_errno(path, errno);
  data_ = static_cast<const std::byte*>(start);
  size_ = bytes;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      path_(std::exchange(other.path_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  MappedFile taken(std::move(other));
  std::swap(data_, taken.data_);
  std::swap(size_, taken.size_);
  std::swap(path_, taken.path_);
  return *this;
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
