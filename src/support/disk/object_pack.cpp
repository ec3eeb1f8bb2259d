#include "src/support/disk/object_pack.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>

#include "fxjit/error.h"
#include "src/support/disk/atomic_file.h"
#include "src/support/disk/cache_file.h"
#include "src/support/disk/xxhash_inline.h"

namespace fxjit::support {
namespace {

namespace fs = std::filesystem;

constexpr char kPackMagic[8] = {'F', 'X', 'J', 'I', 'T', 'P', 'C', 'K'};
constexpr uint32_t kPackFormat = 1;

// In the host's byte order, as entries of the cache are.
struct PackHeader {
  char magic[8];
  uint32_t format;
  uint32_t header_bytes;
  uint64_t items;
  uint64_t index_checksum;
};
static_assert(sizeof(PackHeader) == 32);

std::optional<CacheKey> key_of(const fs::path& path) {
  constexpr size_t kHalf = 16;
  const std::string stem = path.stem().string();
  if (path.extension() != kCacheFileSuffix || stem.size() != 2 * kHalf)
    return std::nullopt;
  CacheKey key;
  const auto parse = [&](size_t from, uint64_t& into) {
    const char* begin = stem.data() + from;
    const auto [end, error] = std::from_chars(begin, begin + kHalf, into, 16);
    return error == std::errc() && end == begin + kHalf;
  };
  if (!parse(0, key.high) || !parse(kHalf, key.low)) return std::nullopt;
  return key;
}

std::vector<std::pair<CacheKey, std::vector<std::byte>>> read_entries(
    const fs::path& folder) {
  std::vector<std::pair<CacheKey, std::vector<std::byte>>> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    const auto key = key_of(it->path());
    std::vector<std::byte> payload;
    if (key &&
        read_cache_file(it->path(), *key, std::numeric_limits<uint64_t>::max(),
                        payload) == CacheFileState::whole)
      entries.emplace_back(*key, std::move(payload));
  }
  if (error)
    throw UserError("[kernels] cannot list " + folder.string() + ": " +
                    error.message());
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return entries;
}

}  // namespace

uint64_t ObjectPack::checksum_of(const CacheKey& key,
                                 const std::vector<std::byte>& payload) {
  return XXH3_64bits_withSeed(payload.data(), payload.size(),
                              key.high ^ key.low);
}

ObjectPack::ObjectPack(const fs::path& path) : file_(path) {
  const std::string fault = file_.absent() ? "is not there or may not be read"
                            : file_.open()
                                ? read_index()
                                : "is no regular file of this user or of root";
  if (fault.empty()) return;
  fault_ = path.string() + " " + fault;
  index_.clear();
}

std::string ObjectPack::read_index() {
  PackHeader header;
  if (!file_.read(0, &header, sizeof(header)) ||
      std::memcmp(header.magic, kPackMagic, sizeof(kPackMagic)) != 0)
    return "is no pack of kernels";
  if (header.format != kPackFormat || header.header_bytes != sizeof(PackHeader))
    return "has format " + std::to_string(header.format) + ", expected " +
           std::to_string(kPackFormat);
  if (file_.size() < sizeof(PackHeader) ||
      header.items > (file_.size() - sizeof(PackHeader)) / sizeof(Item))
    return "is truncated";
  index_.resize(header.items);
  const size_t bytes = index_.size() * sizeof(Item);
  if (!file_.read(sizeof(PackHeader), index_.data(), bytes))
    return "is truncated";
  if (XXH3_64bits(index_.data(), bytes) != header.index_checksum)
    return "is damaged";
  return "";
}

std::optional<std::vector<std::byte>> ObjectPack::load(
    const CacheKey& key) const {
  const auto item = std::lower_bound(
      index_.begin(), index_.end(), key,
      [](const Item& item, const CacheKey& key) { return item.key < key; });
  if (item == index_.end() || item->key != key) return std::nullopt;
  if (item->bytes > file_.size()) return std::nullopt;
  std::vector<std::byte> payload(item->bytes);
  if (!file_.read(item->offset, payload.data(), payload.size()) ||
      checksum_of(key, payload) != item->checksum)
    return std::nullopt;
  return payload;
}

size_t write_object_pack(const fs::path& folder, const std::string& path) {
  const auto entries = read_entries(folder);
  if (entries.empty())
    throw UserError("[kernels] no compiled kernels in " + folder.string());
  std::vector<ObjectPack::Item> index;
  uint64_t offset =
      sizeof(PackHeader) + entries.size() * sizeof(ObjectPack::Item);
  for (const auto& [key, payload] : entries) {
    index.push_back(
        {key, offset, payload.size(), ObjectPack::checksum_of(key, payload)});
    offset += payload.size();
  }
  PackHeader header{};
  std::memcpy(header.magic, kPackMagic, sizeof(kPackMagic));
  header.format = kPackFormat;
  header.header_bytes = sizeof(PackHeader);
  header.items = index.size();
  header.index_checksum =
      XXH3_64bits(index.data(), index.size() * sizeof(index[0]));
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&header, 1)));
  file.write(std::as_bytes(std::span(index)));
  for (const auto& [key, payload] : entries) file.write(payload);
  file.commit();
  return entries.size();
}

}  // namespace fxjit::support
