// Text in a page, in few bytes: compressed as browsers decompress it by
// themselves.
#pragma once

#include <string>

namespace fxjit::command {

// zlib's format (a browser's "deflate") in base64.
std::string packed_text(const std::string& text);

}  // namespace fxjit::command
