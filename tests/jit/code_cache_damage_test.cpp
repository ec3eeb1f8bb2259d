// Entries of the code cache cut short or with bits flipped, byte by byte: code
// is made anew, computes the same and replaces the entry.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "jit/engine/code_cache.h"
#include "jit/engine/ir_module.h"
#include "tests/jit/build_ir.h"

namespace fxjit::jit {
namespace TEST_FILE {

namespace fs = std::filesystem;

constexpr uint64_t kPlenty = uint64_t{64} << 20;
constexpr const char* kAdder =
    "define i32 @add(i32 %x) {\n  %y = add i32 %x, 41\n  ret i32 %y\n}\n";

class DamagedCode : public ::testing::Test {
 protected:
  DamagedCode() {
    std::string name =
        (fs::temp_directory_path() / "fxjit-damage-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    disk_ = std::make_unique<support::ObjectCache>(
        support::ObjectCacheOptions{folder_});
    EXPECT_EQ(origin(), CodeOrigin::compiled);
    EXPECT_EQ(origin(), CodeOrigin::disk);
    entry_ = fs::directory_iterator(folder_)->path();
    std::ifstream file(entry_, std::ios::binary);
    good_.assign(std::istreambuf_iterator<char>(file), {});
  }
  ~DamagedCode() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  // Where a cache without memory of its own has the code from.
  CodeOrigin origin() {
    CodeCache cache(compiler_, disk_.get(), kPlenty);
    const auto code =
        cache.get("adder", [] { return parse_ir(kAdder, "adder"); });
    EXPECT_EQ(code->function<int(int)>("add")(1), 42);
    return code->origin();
  }

  void expect_made_anew(const std::string& bytes) {
    std::ofstream(entry_, std::ios::binary) << bytes;
    ASSERT_EQ(origin(), CodeOrigin::compiled);
  }

  fs::path folder_, entry_;
  Compiler compiler_{EngineOptions{}};
  std::unique_ptr<support::ObjectCache> disk_;
  std::string good_;
};

// Every length of the entry's own header, and a sample of those behind.
TEST_F(DamagedCode, CutShort) {
  std::mt19937 random(1);
  for (size_t size = 0; size < good_.size();
       size += size < 64 ? 1 : 1 + random() % 64)
    ASSERT_NO_FATAL_FAILURE(expect_made_anew(good_.substr(0, size))) << size;
  EXPECT_EQ(origin(), CodeOrigin::disk);
}

TEST_F(DamagedCode, FlippedBits) {
  std::mt19937 random(2);
  for (size_t at = 0; at < good_.size();
       at += at < 64 ? 1 : 1 + random() % 32) {
    std::string bytes = good_;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
    ASSERT_NO_FATAL_FAILURE(expect_made_anew(bytes)) << at;
  }
  EXPECT_EQ(origin(), CodeOrigin::disk);
}

}  // namespace TEST_FILE
}  // namespace fxjit::jit
