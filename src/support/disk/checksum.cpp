#include "src/support/disk/checksum.h"

#define XXH_INLINE_ALL
#define XXH_NO_INLINE_HINTS 1  // -Og cannot inline all that they insist on.
#include <xxhash.h>

#include "src/support/disk/object_cache.h"

namespace fxjit::support {

struct Checksum::State {
  XXH3_state_t hash;
};

Checksum::Checksum() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(&state_->hash);
}

Checksum::~Checksum() = default;

void Checksum::add(std::span<const std::byte> bytes) {
  XXH3_128bits_update(&state_->hash, bytes.data(), bytes.size());
}

std::string Checksum::hex() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(&state_->hash);
  return CacheKey{hash.high64, hash.low64}.hex();
}

}  // namespace fxjit::support
