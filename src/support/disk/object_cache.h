// Bytes on disk under a 128-bit key: compiled objects and packing plans, kept
// between processes. Called by the code cache and by weight packing. Knows
// nothing of what the bytes mean.
//
// Nothing here throws or fails a caller: whatever is wrong with the disk is a
// miss or a store that did not happen. Entries appear whole or not at all, so
// any number of processes may share a folder, writable or not.
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fxjit::support {

struct CacheKey {
  uint64_t high = 0;
  uint64_t low = 0;

  auto operator<=>(const CacheKey&) const = default;
  std::string hex() const;  // 32 digits: the stem of the entry's file.
};

// The key of a text that tells apart all that may differ. generator_id() enters
// as well, so that code of another code generator is never used.
CacheKey make_cache_key(std::string_view text);

struct ObjectCacheOptions {
  // Made on the first store. Nothing: no disk, every load misses.
  std::optional<std::filesystem::path> folder;
  // Least recently used entries beyond this are removed. What other processes
  // store is noticed after some stores.
  uint64_t max_bytes = uint64_t{512} << 20;
  // Files of entries that are asked before the folder. One that cannot be used
  // is reported.
  std::vector<std::filesystem::path> packs = {};
};

class ObjectPack;

// Thread-safe.
class ObjectCache {
 public:
  explicit ObjectCache(ObjectCacheOptions options);
  ~ObjectCache();
  ObjectCache(const ObjectCache&) = delete;
  ObjectCache& operator=(const ObjectCache&) = delete;

  // The bytes stored under `key`, verified; nothing on a miss. A hit makes the
  // entry the most recently used; a damaged entry (of wrong length, magic, key,
  // checksum or owner) is removed.
  std::optional<std::vector<std::byte>> load(const CacheKey& key);
  // As above, from the packs alone.
  std::optional<std::vector<std::byte>> load_packed(const CacheKey& key);

  // Stores or replaces an entry. False when that was not possible, which is
  // logged once.
  bool store(const CacheKey& key, std::span<const std::byte> bytes);

  bool enabled() const { return options_.folder.has_value(); }
  const ObjectCacheOptions& options() const { return options_; }

 private:
  std::filesystem::path path_of(const CacheKey& key) const;
  bool write_entry(const CacheKey& key, std::span<const std::byte> bytes);
  void keep_within_cap(uint64_t added_bytes);
  uint64_t evict();
  void report_failure(const std::string& reason);

  ObjectCacheOptions options_;
  std::vector<std::unique_ptr<const ObjectPack>> packs_;
  std::atomic<bool> reported_ = false;
  std::mutex cap_mutex_;  // Guards what follows.
  uint64_t estimated_bytes_ = 0;
  uint64_t stores_until_scan_;
};

}  // namespace fxjit::support
