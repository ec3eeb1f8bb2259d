// xxHash with its functions inlined, so that the library exports and links
// none. Sources of this folder include this header in place of <xxhash.h>.
#pragma once

#define XXH_INLINE_ALL
#define XXH_NO_INLINE_HINTS 1  // -Og cannot inline all that they insist on.
#include <xxhash.h>
