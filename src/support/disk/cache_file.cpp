#include "src/support/disk/cache_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "src/support/disk/descriptors.h"
#include "src/support/disk/trusted_file.h"
#include "src/support/disk/xxhash_inline.h"

namespace fxjit::support {
namespace {

constexpr char kMagic[8] = {'F', 'X', 'J', 'I', 'T', 'O', 'B', 'J'};
constexpr uint32_t kFormat = 1;

// In the host's byte order: a cache is not carried between architectures.
struct Header {
  char magic[8];
  uint32_t format;
  uint32_t header_bytes;
  uint64_t key_high;
  uint64_t key_low;
  uint64_t payload_bytes;
  uint64_t checksum_high;  // Of the fields above and the payload.
  uint64_t checksum_low;
};
static_assert(sizeof(Header) == 56);

XXH128_hash_t checksum_of(const Header& header,
                          std::span<const std::byte> payload) {
  const XXH64_hash_t seed =
      XXH3_64bits(&header, offsetof(Header, checksum_high));
  return XXH3_128bits_withSeed(payload.data(), payload.size(), seed);
}

Header header_of(const CacheKey& key, std::span<const std::byte> payload) {
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.format = kFormat;
  header.header_bytes = sizeof(Header);
  header.key_high = key.high;
  header.key_low = key.low;
  header.payload_bytes = payload.size();
  const XXH128_hash_t checksum = checksum_of(header, payload);
  header.checksum_high = checksum.high64;
  header.checksum_low = checksum.low64;
  return header;
}

bool read_verified(const TrustedFile& file, const CacheKey& key,
                   uint64_t max_bytes, std::vector<std::byte>& payload) {
  if (file.size() < sizeof(Header) || file.size() > max_bytes) return false;
  Header header;
  if (!file.read(0, &header, sizeof(header))) return false;
  if (header.payload_bytes != file.size() - sizeof(Header)) return false;
  payload.resize(header.payload_bytes);
  if (!file.read(sizeof(Header), payload.data(), payload.size())) return false;
  const Header expected = header_of(key, payload);
  return std::memcmp(&header, &expected, sizeof(header)) == 0;
}

std::filesystem::path temporary_beside(const std::filesystem::path& path) {
  static std::atomic<uint64_t> counter = 0;
  return path.parent_path() / (kCacheTempPrefix + std::to_string(getpid()) +
                               "-" + std::to_string(counter++));
}

// Writing beyond it would end the process by a signal.
bool within_size_limit(uint64_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || bytes <= limit.rlim_cur;
}

std::string failure(const char* what, const std::filesystem::path& path) {
  return std::string(what) + " " + path.string() + ": " + std::strerror(errno);
}

}  // namespace

CacheFileState read_cache_file(const std::filesystem::path& path,
                               const CacheKey& key, uint64_t max_bytes,
                               std::vector<std::byte>& payload) {
  const TrustedFile file(path);
  if (file.absent()) return CacheFileState::absent;
  if (!file.open() || !read_verified(file, key, max_bytes, payload))
    return CacheFileState::damaged;
  // Marks the use for eviction; a read-only folder does without.
  const timespec now[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
  (void)futimens(file.descriptor(), now);
  return CacheFileState::whole;
}

std::string write_cache_file(const std::filesystem::path& path,
                             const CacheKey& key,
                             std::span<const std::byte> payload) {
  if (!within_size_limit(cache_file_bytes(payload.size())))
    return "cannot write " + path.string() + ": larger than files may be";
  const std::filesystem::path temporary = temporary_beside(path);
  Descriptor file(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (!file.open()) return failure("cannot create", temporary);
  const Header header = header_of(key, payload);
  const bool written = file.write(std::as_bytes(std::span(&header, 1))) &&
                       file.write(payload) && file.close() &&
                       ::rename(temporary.c_str(), path.c_str()) == 0;
  if (written) return "";
  std::string reason = failure("cannot write", path);
  ::unlink(temporary.c_str());
  return reason;
}

uint64_t cache_file_bytes(uint64_t payload_bytes) {
  return payload_bytes + sizeof(Header);
}

}  // namespace fxjit::support
