// Files whose descriptor is never 0, 1 or 2. If a process was started without
// standard input or output, open() gives one of these numbers, and the file
// would be read as input or overwritten by messages.
#pragma once

#include <cstddef>
#include <span>

namespace fxjit::support {

// An open file under a number above 2.
class Descriptor {
 public:
  // As open(), with O_CLOEXEC; where it fails, there is no file and errno says
  // why. `mode` is that of a file that is made.
  Descriptor(const char* path, int flags, unsigned mode = 0644);
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  bool open() const { return number_ >= 0; }
  int number() const { return number_; }
  // These return false where the system refuses, with errno set.
  bool write(std::span<const std::byte> bytes) const;
  bool close();

 private:
  int number_;
};

}  // namespace fxjit::support
