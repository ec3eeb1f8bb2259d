#include "tests/onnx/claims.h"

#include <fstream>

namespace fxjit::testing_onnx {

Claims read_claims() {
  Claims claims;
  std::ifstream file(std::string(FXJIT_SOURCE_DIR) + "/tests/onnx/claims.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t tab = line.find('\t');
    claims[line.substr(0, tab)] =
        tab == line.npos ? "" : line.substr(tab + 1);
  }
  return claims;
}

void write_claims(const std::string& path, const Claims& claims) {
  std::ofstream file(path);
  file << "# The backend cases of the onnx package: those without a reason "
          "pass.\n";
  for (const auto& [key, reason] : claims)
    file << key << (reason.empty() ? "" : "\t" + reason) << "\n";
}

}  // namespace fxjit::testing_onnx
