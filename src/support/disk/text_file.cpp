#include "src/support/disk/text_file.h"

#include <fstream>

namespace fxjit::support {

std::string read_text_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::getline(file, text, '\0');  // Files of /proc and /sys hold no zeros.
  return text;
}

}  // namespace fxjit::support
