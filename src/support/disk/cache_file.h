// The file format of one cache entry: a checked header before the payload.
// Used by ObjectCache only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "src/support/disk/object_cache.h"

namespace fxjit::support {

enum class CacheFileState { whole, absent, damaged };

// Reads and verifies an entry of at most `max_bytes`. A file that belongs to
// neither this user nor root counts as damaged: its code must not run.
CacheFileState read_cache_file(const std::filesystem::path& path,
                               const CacheKey& key, uint64_t max_bytes,
                               std::vector<std::byte>& payload);

// Writes beside `path` and renames, without waiting for the disk. Returns an
// empty text, or what failed.
std::string write_cache_file(const std::filesystem::path& path,
                             const CacheKey& key,
                             std::span<const std::byte> payload);

// Bytes that a payload takes on disk.
uint64_t cache_file_bytes(uint64_t payload_bytes);

// Names of files: whole entries end so, unfinished ones begin so.
inline constexpr const char* kCacheFileSuffix = ".fxjit";
inline constexpr const char* kCacheTempPrefix = ".fxjit-tmp-";

}  // namespace fxjit::support
