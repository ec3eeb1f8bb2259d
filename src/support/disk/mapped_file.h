// Read-only view of a whole file: weights and packages. The pages belong to the
// file, so they cost no private memory and can be given back after use.
// A file that another process cuts off while it is mapped faults on access: see
// mapping_guard.h.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "src/support/disk/mapping_guard.h"

namespace fxjit::support {

class MappedFile {
 public:
  // Maps `path`. UserError naming it where it cannot be used: nothing there, no
  // regular file, not readable, empty. Never blocks on pipes or devices.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  size_t size() const { return size_; }

  // Drops the pages that hold [offset, offset + length) from this process's
  // memory; a later access reads them again. Thread-safe. Throws InternalError
  // when the range is outside the file.
  void release_pages(size_t offset, size_t length) const;

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
  const std::string path_;
  std::optional<GuardedRange> guard_;
};

}  // namespace fxjit::support
