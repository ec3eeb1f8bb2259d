// A file that is refused costs at most twice its size and 16 MiB.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "fxjit/error.h"
#include "fxjit/onnx.h"
#include "tests/onnx/model_writer.h"
#include "tests/support/sanitizers.h"

namespace fxjit::testing_onnx {
namespace TEST_FILE {

// A line of /proc/self/status, in bytes.
int64_t status(const std::string& name) {
  std::ifstream file("/proc/self/status");
  std::string word;
  while (file >> word)
    if (word == name + ":") {
      int64_t kibibytes = 0;
      file >> kibibytes;
      return kibibytes << 10;
    }
  return -1;
}

// The largest memory of the process since then.
bool forget_peak() {
  std::ofstream("/proc/self/clear_refs") << "5";
  return status("VmHWM") < status("VmRSS") + (1 << 20);
}

void expect_frugal_refusal(const std::string& path, int64_t file_bytes) {
  if (testing::kSanitizer) GTEST_SKIP() << testing::kFreedIsKept;
  if (!forget_peak()) GTEST_SKIP() << "/proc does not forget the peak";
  const int64_t before = status("VmRSS");
  EXPECT_THROW(onnx::load(path), UserError);
  EXPECT_LE(status("VmHWM") - before, 2 * file_bytes + (16 << 20));
}

TEST(RefusedFiles, LargeWeightsAreNotCopied) {
  constexpr int64_t kBytes = 48 << 20;
  const std::string path = write_model(
      model_of({node("Add", {"x", "w"}, {"a"}), node("Frob", {"a"}, {"y"})},
               {tensor("w", 1, {kBytes / 4},
                       std::string(static_cast<size_t>(kBytes), '\1'))})
          .bytes());
  expect_frugal_refusal(path, kBytes);
}

TEST(RefusedFiles, ManyNodesStayUndecoded) {
  constexpr int64_t kNodes = 400'000;
  const Message one = node("Frob", {"x"}, {"an_output_with_some_name"});
  Message graph;
  for (int64_t i = 0; i < kNodes; ++i) graph.add(1, one);
  const std::string bytes = model(graph).bytes();
  const auto size = static_cast<int64_t>(bytes.size());
  expect_frugal_refusal(write_model(bytes), size);
}

}  // namespace TEST_FILE
}  // namespace fxjit::testing_onnx
