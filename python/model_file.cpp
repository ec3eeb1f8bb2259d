#include "python/model_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "fxjit/error.h"

namespace fxjit::python {
namespace {

constexpr std::string_view kDescriptors = "/proc/self/fd/";

// A copy of a model opens its files by their descriptors.
std::string place_of(const std::string& path) {
  const bool is_descriptor = path.starts_with(kDescriptors);
  return is_descriptor ? std::filesystem::read_symlink(path)
                       : std::filesystem::absolute(path);
}

}  // namespace

ModelFile::ModelFile(const std::string& path)
    : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) throw UserError(path + ": " + std::strerror(errno));
  place_ = place_of(path);
}

ModelFile::~ModelFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

ModelFile::ModelFile(ModelFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      place_(std::move(other.place_)) {}

ModelFile& ModelFile::operator=(ModelFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(place_, other.place_);
  return *this;
}

std::string ModelFile::path() const {
  return std::string(kDescriptors) + std::to_string(descriptor_);
}

std::string ModelFile::place() const {
  if (descriptor_ < 0) return {};
  struct stat ours {}, there {};
  if (fstat(descriptor_, &ours) != 0 || stat(place_.c_str(), &there) != 0 ||
      ours.st_dev != there.st_dev || ours.st_ino != there.st_ino)
    throw UserError(place_ + ": no longer the file that was loaded");
  return place_;
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
