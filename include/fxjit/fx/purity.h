// Which calls dead-code elimination may not remove although nothing uses their
// result: torch.fx's has_side_effect.
#pragma once

#include "fxjit/fx/target.h"

namespace fxjit::fx {

// From now on calls of `function` count as impure, in every graph of the
// process, under this spelling only. Returns `function`. Thread-safe;
// ValueError for text, which is no function.
Target has_side_effect(const Target& function);
// As above by printed name; KeyError when neither the op table nor the
// functions defined by the user have it.
Target has_side_effect(std::string_view function);
inline Target has_side_effect(const char* function) {
  return has_side_effect(std::string_view(function));
}

// Whether `has_side_effect` was called for it.
bool is_side_effectful(const Target& function);

}  // namespace fxjit::fx
