#include "python/model_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "fxjit/error.h"

namespace fxjit::python {

ModelFile::ModelFile(const std::string& path)
    : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) throw UserError(path + ": " + std::strerror(errno));
}

ModelFile::~ModelFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

ModelFile::ModelFile(ModelFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

ModelFile& ModelFile::operator=(ModelFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

std::string ModelFile::path() const {
  return "/proc/self/fd/" + std::to_string(descriptor_);
}

std::string ModelFile::bytes() const {
  struct stat about {};
  if (fstat(descriptor_, &about) != 0)
    throw RuntimeError(std::string("a model's file: ") + std::strerror(errno));
  std::string bytes(static_cast<size_t>(about.st_size), '\0');
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t got = pread(descriptor_, bytes.data() + done,
                              bytes.size() - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      throw RuntimeError(std::string("a model's file: ") +
                         std::strerror(errno));
    if (got == 0) throw RuntimeError("a model's file has become shorter");
    done += static_cast<size_t>(got);
  }
  return bytes;
}

}  // namespace fxjit::python
