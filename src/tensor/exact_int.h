// ExactInt: another name of Size, whose arithmetic never wraps.
#pragma once

#include "fxjit/size.h"

namespace fxjit::support {
using ExactInt = Size;
}
