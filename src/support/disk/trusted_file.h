// A file that compiled code may be read from: a regular one of this user or of
// root. Nothing here throws or blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "src/support/disk/descriptors.h"

namespace fxjit::support {

class TrustedFile {
 public:
  // Opens `path`, which may be anything; links are not followed.
  explicit TrustedFile(const std::filesystem::path& path);

  bool open() const { return file_.open(); }
  bool absent() const { return absent_; }  // Or not readable.
  uint64_t size() const { return size_; }  // When it was opened.
  int descriptor() const { return file_.number(); }

  // Fills `into`. False when the file ends before, or cannot be read.
  // Thread-safe.
  bool read(uint64_t offset, void* into, size_t bytes) const;

 private:
  Descriptor file_;
  bool absent_ = false;
  uint64_t size_ = 0;
};

}  // namespace fxjit::support
