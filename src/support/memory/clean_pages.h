// Pages of mapped files that nobody has written to.
#pragma once

#include <cstddef>

namespace fxjit::support {

// Gives back the pages of a file that is mapped privately and may be written
// to. Those that were written to stay; the others are read from the file when
// they are asked for again. Where the system does not tell them apart, all
// stay.
void release_clean_pages(const std::byte* begin, size_t bytes);

}  // namespace fxjit::support
