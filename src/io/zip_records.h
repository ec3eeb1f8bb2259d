// Signatures that begin the records of a zip file, in little-endian order.
// Shared by the reader and the writer of this folder.
#pragma once

#include <cstdint>

namespace fxjit::io {

inline constexpr uint32_t kLocalHeader = 0x04034b50;
inline constexpr uint32_t kDirectoryEntry = 0x02014b50;
inline constexpr uint32_t kDirectoryEnd = 0x06054b50;

}  // namespace fxjit::io
