#include "src/support/disk/checksum.h"

#include "src/support/disk/object_cache.h"
#include "src/support/disk/xxhash_inline.h"

namespace fxjit::support {

std::string checksum(std::span<const std::span<const std::byte>> pieces) {
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  for (const auto& piece : pieces)
    XXH3_128bits_update(&state, piece.data(), piece.size());
  const XXH128_hash_t hash = XXH3_128bits_digest(&state);
  return CacheKey{hash.high64, hash.low64}.hex();
}

}  // namespace fxjit::support
