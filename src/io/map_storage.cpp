#include "src/io/map_storage.h"

#include <sys/stat.h>

#include <array>
#include <map>
#include <mutex>
#include <optional>

#include "src/support/disk/mapped_file.h"

namespace fxjit::io {
namespace {

// What tells files, and versions of a file, apart.
using FileKey = std::array<int64_t, 5>;

std::optional<FileKey> key_of(const std::string& path) {
  struct stat facts;
  if (stat(path.c_str(), &facts) != 0) return std::nullopt;
  return FileKey{static_cast<int64_t>(facts.st_dev),
                 static_cast<int64_t>(facts.st_ino),
                 static_cast<int64_t>(facts.st_size),
                 static_cast<int64_t>(facts.st_mtim.tv_sec),
                 static_cast<int64_t>(facts.st_mtim.tv_nsec)};
}

std::shared_ptr<Storage> map_anew(const std::string& path) {
  const auto file = std::make_shared<support::MappedFile>(path);
  const auto bytes = file->bytes();
  auto storage = Storage::borrow(const_cast<std::byte*>(bytes.data()),
                                 bytes.size(), file, /*read_only=*/true);
  storage->release_pages = [file = file.get()](size_t offset, size_t size) {
    file->release_pages(offset, size);
  };
  return storage;
}

}  // namespace

std::shared_ptr<Storage> map_storage(const std::string& path) {
  static std::mutex mutex;
  static auto& mapped = *new std::map<FileKey, std::weak_ptr<Storage>>;
  const std::lock_guard lock(mutex);
  const auto before = key_of(path);
  if (before) {
    const auto found = mapped.find(*before);
    if (found != mapped.end())
      if (auto storage = found->second.lock()) return storage;
  }
  auto storage = map_anew(path);
  // A file exchanged meanwhile is not what the key says.
  if (before && key_of(path) == before) {
    std::erase_if(mapped, [](const auto& one) { return one.second.expired(); });
    mapped[*before] = storage;
  }
  return storage;
}

}  // namespace fxjit::io
