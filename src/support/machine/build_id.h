// Tells builds of this library apart, so that what one build stored is not
// used by another whose code differs. Asked by the cache.
#pragma once

#include <string>

namespace fxjit::support {

// The linker's build id of the file (libfxjit.so or a program) that holds this
// code, in hexadecimal; "none" when it was linked without one.
const std::string& build_id();

}  // namespace fxjit::support
