// Where files of this library lie: in a user's home, and beside the library.
// Asked once by whoever fills options; creates nothing.
#pragma once

#include <filesystem>
#include <optional>

namespace fxjit::support {

// The folder for files that can be made again: $FXJIT_CACHE, else
// $XDG_CACHE_HOME/fxjit, else $HOME/.cache/fxjit. Nothing when FXJIT_CACHE is
// set but empty (no disk cache wanted), or when no home is known.
std::optional<std::filesystem::path> cache_folder();

// The pack of kernels that is shipped with this library: $FXJIT_KERNELS, else
// fxjit/kernels.pack in the library's folder. Nothing when FXJIT_KERNELS is set
// but empty, or the library came without.
std::optional<std::filesystem::path> shipped_kernels();

}  // namespace fxjit::support
