// Decisions by several sizes at once: where some are named (fxjit/size.h), the
// guard is what was decided, not each comparison on the way.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "fxjit/size.h"

namespace fxjit {

// A function of its numbers alone.
using SizeDecision = int64_t (*)(std::span<const int64_t> sizes);

// What `decide` says of the sizes. `what` is for people, a literal.
int64_t decided(const char* what, SizeDecision decide,
                std::initializer_list<Size> sizes);

}  // namespace fxjit
