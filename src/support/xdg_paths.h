// Where files of this library belong in a user's home. Asked once by whoever
// fills options; creates nothing.
#pragma once

#include <filesystem>
#include <optional>

namespace fxjit::support {

// The folder for files that can be made again: $FXJIT_CACHE, else
// $XDG_CACHE_HOME/fxjit, else $HOME/.cache/fxjit. Nothing when FXJIT_CACHE is
// set but empty (no disk cache wanted), or when no home is known.
std::optional<std::filesystem::path> cache_folder();

}  // namespace fxjit::support
