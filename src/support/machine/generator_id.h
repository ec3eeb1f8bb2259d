// Tells apart builds of this library that may generate different code, so that
// what one build stored is not used by another. Asked by the cache of code.
#pragma once

#include <string_view>

namespace fxjit::support {

// A hash, in hexadecimal, of the sources that turn a step into machine code and
// of the LLVM that they are built with (cmake/FxjitGeneratorId.cmake). Edits of
// other sources leave it, and with it kernels.pack and the caches of users, as
// it is.
std::string_view generator_id();

}  // namespace fxjit::support
