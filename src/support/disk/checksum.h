// A 128-bit checksum of bytes that come in pieces: tells damage, not malice.
// Used by files that must be read back as they were written.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace fxjit::support {

// Of the pieces one after the other, 32 hexadecimal digits.
std::string checksum(std::span<const std::span<const std::byte>> pieces);

}  // namespace fxjit::support
