// What people see of generated code: dumps, perf's map, the debugger's list.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "jit/engine/compiler.h"
#include "jit/engine/gdb_interface.h"
#include "jit/engine/ir_module.h"
#include "tests/jit/build_ir.h"

namespace fxjit::jit {
namespace TEST_FILE {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kDouble = R"(
define void @double_all(ptr %x) {
  %a = alloca <16 x float>
  %v = load <16 x float>, ptr %x, align 4
  store <16 x float> %v, ptr %a
  %w = load <16 x float>, ptr %a
  %s = fadd <16 x float> %w, %w
  store <16 x float> %s, ptr %x, align 4
  ret void
}
)";

IrModule double_module() { return parse_ir(kDouble, "double/all"); }

std::string read_file(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class DumpTest : public ::testing::TestWithParam<CpuLevel> {
 protected:
  DumpTest() {
    std::string name =
        (fs::temp_directory_path() / "fxjit-dump-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~DumpTest() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_P(DumpTest, ShowsIrBeforeAndAfterAndAssembly) {
  EngineOptions options;
  options.cpu_level = GetParam();
  options.sanitizer = Sanitizer::none;
  options.dump_folder = folder_ / "new";
  Compiler(options).compile(double_module());
  const fs::path stem = folder_ / "new" / "double_all";
  EXPECT_THAT(read_file(stem.string() + ".before.ll"), HasSubstr("alloca"));
  EXPECT_THAT(read_file(stem.string() + ".after.ll"),
              AllOf(Not(HasSubstr("alloca")), HasSubstr("fadd <16 x float>")));
  const std::string assembly = read_file(stem.string() + ".s");
  EXPECT_THAT(assembly, HasSubstr("double_all:"));
  EXPECT_EQ(assembly.find("%zmm") != std::string::npos,
            GetParam() == CpuLevel::avx512);
  EXPECT_EQ(assembly.find("%ymm") != std::string::npos,
            GetParam() == CpuLevel::avx2);
}

INSTANTIATE_TEST_SUITE_P(Levels, DumpTest,
                         ::testing::Values(CpuLevel::sse41, CpuLevel::avx2,
                                           CpuLevel::avx512),
                         [](const auto& level) {
                           return std::string(cpu_level_name(level.param));
                         });

TEST(DumpFailureTest, UnwritableFolderDoesNotFailTheCompile) {
  EngineOptions options;
  options.dump_folder = "/proc/nowhere";
  EXPECT_FALSE(Compiler(options).compile(double_module()).bytes.empty());
}

TEST(PerfMapTest, NamesTheFunction) {
  EngineOptions options;
  options.perf_support = true;
  const Compiler compiler(options);
  const auto code = build(compiler, double_module());
  std::ostringstream start;
  start << std::hex << reinterpret_cast<uintptr_t>(code->lookup("double_all"))
        << " ";
  const fs::path map = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  const std::string text = read_file(map);
  EXPECT_THAT(text, HasSubstr(start.str()));
  EXPECT_THAT(text, HasSubstr(" double_all\n"));
  fs::remove(map);
}

// perf finds the file by its mapping, and in it a header and the function.
TEST(JitDumpTest, HoldsTheCodeOfTheFunction) {
  EngineOptions options;
  options.perf_support = true;
  const Compiler compiler(options);
  const auto code = build(compiler, double_module());
  const fs::path path = "/tmp/jit-" + std::to_string(getpid()) + ".dump";
  EXPECT_THAT(read_file("/proc/self/maps"), HasSubstr(path.string()));
  const std::string text = read_file(path);
  EXPECT_TRUE(text.starts_with("DTiJ"));
  const void* const address = code->lookup("double_all");
  const auto place = reinterpret_cast<uintptr_t>(address);
  const std::string_view bytes(reinterpret_cast<const char*>(&place),
                               sizeof(place));
  const size_t at = text.rfind(std::string("double_all\0", 11));
  ASSERT_NE(at, text.npos);
  // Before the name: address, code address, size and index.
  uint64_t size = 0;
  std::memcpy(&size, text.data() + at - 16, sizeof(size));
  EXPECT_EQ(std::string_view(text).substr(at - 24, 8), bytes);
  ASSERT_GT(size, 0u);
  ASSERT_EQ(at + 11 + size, text.size());
  EXPECT_EQ(std::memcmp(text.data() + at + 11, address, size), 0);
  fs::remove(path);
}

TEST(GdbTest, ListsCodeWhileItLives) {
  EngineOptions options;
  options.gdb_support = true;
  const Compiler compiler(options);
  const size_t before = announced_symbol_files();
  auto one = build(compiler, double_module());
  auto other = build(compiler, double_module());
  EXPECT_EQ(announced_symbol_files(), before + 2);
  one.reset();
  EXPECT_EQ(announced_symbol_files(), before + 1);
  other.reset();
  EXPECT_EQ(announced_symbol_files(), before);
}

TEST(GdbTest, IsOffByDefault) {
  const Compiler compiler{EngineOptions{}};
  const size_t before = announced_symbol_files();
  const auto code = build(compiler, double_module());
  EXPECT_EQ(announced_symbol_files(), before);
}

}  // namespace TEST_FILE
}  // namespace fxjit::jit
