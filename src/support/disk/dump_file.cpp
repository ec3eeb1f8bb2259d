#include "src/support/disk/dump_file.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "fxjit/log.h"

namespace fxjit::support {

void write_dump(const std::string& folder, const std::string& name,
                std::string_view text) {
  std::error_code ignored;  // The file says it as well.
  std::filesystem::create_directories(folder, ignored);
  const std::string path = folder + "/" + name;
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (file.flush()) return;
  const int error = errno;
  static std::atomic<bool> reported = false;
  if (!reported.exchange(true))
    log(LogLevel::warning, "[dump] cannot write " + path + ": " +
                               std::strerror(error) +
                               "; other files may be missing as well");
}

}  // namespace fxjit::support
