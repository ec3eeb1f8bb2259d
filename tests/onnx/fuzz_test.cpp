// The corpus of the fuzzers, and its files with bytes changed: nothing but
// typed errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "tests/onnx/fuzz_targets.h"

namespace fxjit::testing_onnx {
namespace TEST_FILE {

namespace fs = std::filesystem;

std::vector<std::string> corpus() {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(fs::path(FXJIT_SOURCE_DIR) /
                                                  "tests/onnx/corpus")) {
    std::ifstream file(entry.path(), std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(file),
                       std::istreambuf_iterator<char>());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void run(const std::string& bytes) {
  EXPECT_NO_THROW(LLVMFuzzerTestOneInput(
      reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
}

TEST(Fuzz, CorpusIsLoadedOrRefused) {
  const std::vector<std::string> files = corpus();
  ASSERT_GE(files.size(), 40u);
  for (const std::string& file : files) run(file);
}

TEST(Fuzz, ChangedFilesAreLoadedOrRefused) {
  std::mt19937 random(7);
  for (const std::string& file : corpus())
    for (int i = 0; i < 20 && file.size() > 1; ++i) {
      std::string changed = file;
      for (int k = 0; k < 3; ++k)
        changed[1 + random() % (changed.size() - 1)] =
            static_cast<char>(random());
      run(changed);
    }
}

}  // namespace TEST_FILE
}  // namespace fxjit::testing_onnx
