#include "src/support/disk/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fxjit/error.h"

namespace fxjit::support {
namespace TEST_FILE {

class MappedFileTest : public ::testing::Test {
 protected:
  MappedFileTest()
      : folder_(std::filesystem::path(::testing::TempDir()) /
                ("fxjit_mapped_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~MappedFileTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  // Whether opening fails with an error that names the file and says `reason`.
  ::testing::AssertionResult fails(const std::string& name,
                                 const std::string& reason) const {
    try {
      MappedFile file(path(name));
    } catch (const UserError& error) {
      const std::string text = error.what();
      return text.find(path(name) + ": ") != text.npos &&
                     text.find(reason) != text.npos
                 ? ::testing::AssertionSuccess()
                 : ::testing::AssertionFailure() << text;
    }
    return ::testing::AssertionFailure() << name << " opened";
  }

  std::filesystem::path folder_;
};

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.size()};
}

TEST_F(MappedFileTest, ShowsTheWholeFile) {
  MappedFile file(write("a", "some bytes"));
  EXPECT_EQ(file.size(), 10u);
  EXPECT_EQ(text_of(file), "some bytes");
}

TEST_F(MappedFileTest, MissingFilesAndFolders) {
  EXPECT_TRUE(fails("none", "No such file or directory"));
  EXPECT_TRUE(fails("none/none", "No such file or directory"));
  write("file", "x");
  EXPECT_TRUE(fails("file/inside", "Not a directory"));
}

TEST_F(MappedFileTest, FoldersPipesAndDevicesAreNotRegular) {
  constexpr char kReason[] = "expected a regular file";
  EXPECT_TRUE(fails("", kReason));
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_TRUE(fails("pipe", kReason));  // No hang.
  std::filesystem::create_symlink("/dev/null", path("device"));
  EXPECT_TRUE(fails("device", kReason));
}

TEST_F(MappedFileTest, Empty) {
  write("empty", "");
  EXPECT_TRUE(fails("empty", "expected content, got 0 bytes"));
}

TEST_F(MappedFileTest, DeniedPermission) {
  write("locked", "x");
  std::filesystem::permissions(path("locked"), std::filesystem::perms::none);
  if (access(path("locked").c_str(), R_OK) == 0 || geteuid() == 0) {
    // Root reads everything: become nobody for this thread's file accesses.
    if (seteuid(65534) != 0) GTEST_SKIP() << "root cannot drop its rights";
    EXPECT_TRUE(fails("locked", "Permission denied"));
    ASSERT_EQ(seteuid(0), 0);
    return;
  }
  EXPECT_TRUE(fails("locked", "Permission denied"));
}

// Pages of the mapping that are in memory and mapped here, from /proc.
size_t resident_kib(const void* start) {
  std::ifstream smaps("/proc/self/smaps");
  char wanted[32];
  std::snprintf(wanted, sizeof(wanted), "%lx-",
                reinterpret_cast<unsigned long>(start));
  bool inside = false;
  for (std::string line; std::getline(smaps, line);) {
    if (line.find(wanted) == 0) inside = true;
    if (inside && line.starts_with("Rss:"))
      return std::stoul(line.substr(line.find_first_of("0123456789")));
  }
  ADD_FAILURE() << "no mapping at " << wanted;
  return 0;
}

uint64_t sum_of(const MappedFile& file) {
  uint64_t sum = 0;
  for (std::byte value : file.bytes()) sum += static_cast<uint64_t>(value);
  return sum;
}

TEST_F(MappedFileTest, ReleasedPagesLeaveMemoryAndReadAgain) {
  std::string content(1 << 20, '\0');
  for (size_t i = 0; i < content.size(); ++i)
    content[i] = static_cast<char>(i * 31 >> 3);
  MappedFile file(write("big", content));
  uint64_t sum = sum_of(file);
  size_t before = resident_kib(file.bytes().data());
  EXPECT_GE(before, 1000u);
  file.release_pages(0, file.size());
  EXPECT_LT(resident_kib(file.bytes().data()), before / 4);
  EXPECT_EQ(sum_of(file), sum);
  file.release_pages(5000, 600000);
  EXPECT_LE(resident_kib(file.bytes().data()), before - 500);
  EXPECT_EQ(text_of(file), content);
}

TEST_F(MappedFileTest, ReleaseChecksItsRange) {
  MappedFile file(write("ten", "0123456789"));
  file.release_pages(0, 0);
  file.release_pages(10, 0);
  file.release_pages(9, 1);
  EXPECT_THROW(file.release_pages(0, 11), InternalError);
  EXPECT_THROW(file.release_pages(11, 0), InternalError);
  EXPECT_THROW(file.release_pages(5, SIZE_MAX), InternalError);
  EXPECT_EQ(text_of(file), "0123456789");
}

}  // namespace TEST_FILE
}  // namespace fxjit::support
