// Entries of a cache folder in one file that is only read: compiled objects
// that are shipped with the library or with an application. Asked by
// ObjectCache before its folder. Knows nothing of what the bytes mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "src/support/disk/object_cache.h"
#include "src/support/disk/trusted_file.h"

namespace fxjit::support {

// Immutable and thread-safe. Holds the file open and its index in memory.
class ObjectPack {
 public:
  // Throws nothing: a file that cannot be used has no entries and says why.
  explicit ObjectPack(const std::filesystem::path& path);

  const std::string& fault() const { return fault_; }  // Empty: none.
  size_t size() const { return index_.size(); }

  // The bytes under `key`, verified; nothing when they are not here or damaged.
  std::optional<std::vector<std::byte>> load(const CacheKey& key) const;

 private:
  struct Item {
    CacheKey key;
    uint64_t offset, bytes, checksum;
  };
  friend size_t write_object_pack(const std::filesystem::path& folder,
                                  const std::string& path);

  std::string read_index();
  static uint64_t checksum_of(const CacheKey& key,
                              const std::vector<std::byte>& payload);

  TrustedFile file_;
  std::vector<Item> index_;  // By key.
  std::string fault_;
};

// Writes the whole entries of a cache folder to `path`, whole or not at all,
// and returns their count. Throws UserError when there are none, or when it
// cannot write.
size_t write_object_pack(const std::filesystem::path& folder,
                         const std::string& path);

}  // namespace fxjit::support
