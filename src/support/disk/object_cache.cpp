#include "src/support/disk/object_cache.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <system_error>

#include "fxjit/log.h"
#include "fxjit/version.h"
#include "src/support/disk/cache_file.h"
#include "src/support/disk/object_pack.h"
#include "src/support/disk/xxhash_inline.h"
#include "src/support/machine/generator_id.h"

namespace fxjit::support {
namespace {

namespace fs = std::filesystem;

// Other processes add to the folder as well; look again this often.
constexpr uint64_t kStoresBetweenScans = 32;

// A scan takes as long as compiling several kernels when the folder is well
// filled. The first one is due after a random number of stores: a process that
// stores few kernels seldom scans, yet many such processes keep the cap.
uint64_t stores_before_first_scan() {
  return std::random_device()() % kStoresBetweenScans;
}

// Evict to this share of the cap, so that not every store has to.
constexpr double kShareKept = 0.9;
// An unfinished file this old was left by a process that died.
constexpr auto kTemporaryLifetime = std::chrono::hours(1);

struct Entry {
  fs::path path;
  uint64_t bytes;
  fs::file_time_type used;
};

bool is_stale_temporary(const fs::path& path, fs::file_time_type changed) {
  return path.filename().string().starts_with(kCacheTempPrefix) &&
         changed + kTemporaryLifetime < fs::file_time_type::clock::now();
}

// The entries of a folder. Files may vanish while it looks.
std::vector<Entry> list_entries(const fs::path& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  fs::directory_iterator it(folder, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) {
    std::error_code vanished;
    const auto used = it->last_write_time(vanished);
    if (vanished) continue;
    if (is_stale_temporary(it->path(), used)) fs::remove(*it, vanished);
    if (it->path().extension() != kCacheFileSuffix) continue;
    const uint64_t bytes = it->file_size(vanished);
    if (!vanished) entries.push_back({it->path(), bytes, used});
  }
  return entries;
}

}  // namespace

std::string CacheKey::hex() const {
  char digits[33];
  std::snprintf(digits, sizeof(digits), "%016llx%016llx",
                static_cast<unsigned long long>(high),
                static_cast<unsigned long long>(low));
  return digits;
}

CacheKey make_cache_key(std::string_view text) {
  std::string whole = FXJIT_VERSION_STRING " ";
  whole += generator_id();
  whole += "\n";
  whole += text;
  const XXH128_hash_t hash = XXH3_128bits(whole.data(), whole.size());
  return {hash.high64, hash.low64};
}

ObjectCache::ObjectCache(ObjectCacheOptions options)
    : options_(std::move(options)),
      stores_until_scan_(stores_before_first_scan()) {
  for (const fs::path& path : options_.packs) {
    auto pack = std::make_unique<const ObjectPack>(path);
    if (!pack->fault().empty())
      log(LogLevel::warning,
          "[cache] " + pack->fault() + "; kernels are compiled instead");
    if (pack->size() > 0) packs_.push_back(std::move(pack));
  }
}

ObjectCache::~ObjectCache() = default;

std::optional<std::vector<std::byte>> ObjectCache::load_packed(
    const CacheKey& key) {
  for (const auto& pack : packs_)
    if (auto payload = pack->load(key)) return payload;
  return std::nullopt;
}

fs::path ObjectCache::path_of(const CacheKey& key) const {
  return *options_.folder / (key.hex() + kCacheFileSuffix);
}

std::optional<std::vector<std::byte>> ObjectCache::load(const CacheKey& key) {
  if (auto packed = load_packed(key)) return packed;
  std::vector<std::byte> payload;
  auto state = CacheFileState::absent;
  if (enabled()) {
    state = read_cache_file(path_of(key), key, options_.max_bytes, payload);
  }
  if (state == CacheFileState::whole) return payload;
  if (state == CacheFileState::damaged) {
    log(LogLevel::info,
        "[cache] damaged entry " + path_of(key).string() + " is ignored");
    std::error_code ignored;
    fs::remove(path_of(key), ignored);
  }
  return std::nullopt;
}

bool ObjectCache::store(const CacheKey& key, std::span<const std::byte> bytes) {
  const uint64_t on_disk = cache_file_bytes(bytes.size());
  if (!enabled() || on_disk > options_.max_bytes) return false;
  if (!write_entry(key, bytes)) return false;
  keep_within_cap(on_disk);
  return true;
}

bool ObjectCache::write_entry(const CacheKey& key,
                              std::span<const std::byte> bytes) {
  std::error_code error;
  if (!fs::exists(*options_.folder, error)) {
    fs::create_directories(*options_.folder, error);
    if (error) {
      report_failure("cannot make folder " + options_.folder->string() + ": " +
                     error.message());
      return false;
    }
    // Code runs from here: nobody else may write.
    fs::permissions(*options_.folder, fs::perms::owner_all, error);
  }
  const std::string reason = write_cache_file(path_of(key), key, bytes);
  if (!reason.empty()) report_failure(reason);
  return reason.empty();
}

void ObjectCache::report_failure(const std::string& reason) {
  if (reported_.exchange(true)) return;
  log(LogLevel::warning,
      "[cache] compiled code is not kept on disk: " + reason +
          " (FXJIT_CACHE=folder names another folder, FXJIT_CACHE= none)");
}

void ObjectCache::keep_within_cap(uint64_t added_bytes) {
  const std::lock_guard<std::mutex> lock(cap_mutex_);
  estimated_bytes_ += added_bytes;
  const bool due = stores_until_scan_ == 0;
  if (!due) --stores_until_scan_;
  if (!due && estimated_bytes_ <= options_.max_bytes) return;
  estimated_bytes_ = evict();
  stores_until_scan_ = kStoresBetweenScans;
}

uint64_t ObjectCache::evict() {
  std::vector<Entry> entries = list_entries(*options_.folder);
  uint64_t total = 0;
  for (const Entry& entry : entries) total += entry.bytes;
  if (total <= options_.max_bytes) return total;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  const auto kept = static_cast<uint64_t>(
      kShareKept * static_cast<double>(options_.max_bytes));
  // The last one is what was just stored.
  for (size_t i = 0; i + 1 < entries.size() && total > kept; ++i) {
    std::error_code error;
    if (!fs::remove(entries[i].path, error) || error) continue;
    total -= entries[i].bytes;
  }
  return total;
}

}  // namespace fxjit::support
