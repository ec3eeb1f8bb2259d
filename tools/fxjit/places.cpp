#include "tools/fxjit/places.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "fxjit/error.h"

namespace fxjit::command {

namespace fs = std::filesystem;

std::string shared_file(const std::string& name) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path file = (program.parent_path() / FXJIT_SHARE / name);
  if (error || !fs::exists(file, error))
    throw UserError("[bench] " + file.lexically_normal().string() +
                    " is missing: install fxjit whole");
  return file.lexically_normal().string();
}

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  path_ = ((error ? fs::path("/tmp") : parent) / "fxjit_XXXXXX").string();
  if (!mkdtemp(path_.data()))
    throw UserError("[bench] no folder " + path_ + ": " + std::strerror(errno));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

}  // namespace fxjit::command
