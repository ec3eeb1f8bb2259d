#include "src/support/xdg_paths.h"

#include <cstdlib>

namespace fxjit::support {
namespace {

// The XDG specification has relative paths ignored.
std::optional<std::filesystem::path> absolute_path_of(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr || value[0] != '/') return std::nullopt;
  return std::filesystem::path(value);
}

}  // namespace

std::optional<std::filesystem::path> cache_folder() {
  if (const char* folder = std::getenv("FXJIT_CACHE")) {
    if (folder[0] == '\0') return std::nullopt;
    return std::filesystem::path(folder);
  }
  if (auto caches = absolute_path_of("XDG_CACHE_HOME")) {
    return *caches / "fxjit";
  }
  if (auto home = absolute_path_of("HOME")) return *home / ".cache" / "fxjit";
  return std::nullopt;
}

}  // namespace fxjit::support
