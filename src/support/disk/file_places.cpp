#include "src/support/disk/file_places.h"

#include <dlfcn.h>

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

std::optional<std::filesystem::path> shipped_kernels() {
  if (const char* file = std::getenv("FXJIT_KERNELS")) {
    if (file[0] == '\0') return std::nullopt;
    return std::filesystem::path(file);
  }
  Dl_info library;
  const auto here = reinterpret_cast<const void*>(&shipped_kernels);
  if (dladdr(here, &library) == 0 || library.dli_fname == nullptr)
    return std::nullopt;
  std::error_code error;
  const auto whole = std::filesystem::canonical(library.dli_fname, error);
  if (error) return std::nullopt;
  const auto file = whole.parent_path() / "fxjit" / "kernels.pack";
  if (!std::filesystem::exists(file, error)) return std::nullopt;
  return file;
}

}  // namespace fxjit::support
