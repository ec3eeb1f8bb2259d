// Read-only view of a whole file: weights and packages. The pages belong to the
// file, so they cost no private memory and can be given back after use.
// A file that another process truncates while it is mapped faults on access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "fxjit/error.h"

namespace fxjit::support {

// A file that cannot be used; what() names the path and the reason.
class FileError : public UserError {
 public:
  enum class Kind {
    missing,      // No such file or folder on the way.
    not_regular,  // A folder, pipe, socket or device.
    permission,   // Not readable for this user.
    empty,        // No bytes.
    too_large,    // Above the given limit or the address space.
    failed,       // Anything else; the system's message tells.
  };

  FileError(Kind kind, const std::string& path, const std::string& reason);
  Kind kind() const { return kind_; }
  const std::string& path() const { return path_; }

 private:
  Kind kind_;
  std::string path_;
};

class MappedFile {
 public:
  MappedFile() = default;  // No file, no bytes.
  // Maps `path`. Throws FileError. Never blocks on pipes or devices.
  explicit MappedFile(const std::string& path,
                      uint64_t max_bytes = std::numeric_limits<size_t>::max());
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  size_t size() const { return size_; }
  const std::string& path() const { return path_; }

  // Drops the pages that hold [offset, offset + length) from this process's
  // memory; a later access reads them again. Thread-safe. Throws InternalError
  // when the range is outside the file.
  void release_pages(size_t offset, size_t length) const;

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
  std::string path_;
};

}  // namespace fxjit::support
