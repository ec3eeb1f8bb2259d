// Writes a file of the user's whole or not at all: beside the path, then by
// renaming. A reader sees the old file or the new one, also after a crash.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "src/support/disk/descriptors.h"

namespace fxjit::support {

class AtomicFile {
 public:
  // Creates the file beside `path`. All functions throw UserError naming
  // `path`, and then leave what was there before.
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();  // Without `commit`, nothing has happened.
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  // Waits for the disk and puts the file in place.
  void commit();

 private:
  [[noreturn]] void fail(const char* doing);

  std::string path_;
  std::string temporary_;
  Descriptor file_;
};

}  // namespace fxjit::support
