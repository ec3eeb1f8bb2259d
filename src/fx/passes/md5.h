// MD5, which torch's drawer picks colours by. Not for anything that must be
// secure.
#pragma once

#include <cstdint>
#include <string_view>

namespace fxjit::fx::passes {

// The first four bytes of the digest, as a big-endian number.
uint32_t md5_prefix(std::string_view text);

}  // namespace fxjit::fx::passes
