#include "src/support/disk/mapping_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "src/support/disk/mapped_file.h"

namespace fxjit::support {
namespace TEST_FILE {

using ::testing::Contains;
using ::testing::Not;

class MappingGuardTest : public ::testing::Test {
 protected:
  MappingGuardTest()
      : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))),
        path_(std::filesystem::path(::testing::TempDir()) /
              ("fxjit_guard_" + std::to_string(getpid()))) {
    guard_mapped_files();
    std::ofstream(path_, std::ios::binary) << std::string(4 * page_, 'a');
  }
  ~MappingGuardTest() override { std::filesystem::remove(path_); }

  FileVersion version() const {
    struct stat facts{};
    EXPECT_EQ(stat(path_.c_str(), &facts), 0);
    return {facts.st_dev, facts.st_ino, static_cast<uint64_t>(facts.st_size),
            facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec};
  }

  size_t page_;
  std::filesystem::path path_;
};

TEST_F(MappingGuardTest, ReadsBehindTheEndOfAShorterFileAreZeros) {
  const FileVersion file = version();
  {
    const MappedFile mapped(path_);
    EXPECT_THAT(lost_files(), Not(Contains(file)));
    std::filesystem::resize_file(path_, page_);
    EXPECT_EQ(mapped.bytes()[page_ - 1], std::byte{'a'});
    EXPECT_THAT(lost_files(), Not(Contains(file)));
    EXPECT_EQ(mapped.bytes()[2 * page_], std::byte{0});
    EXPECT_EQ(mapped.bytes()[page_], std::byte{0});
    EXPECT_THAT(lost_files(), Contains(file));
    EXPECT_THAT(lost_files(), Not(Contains(version())));
  }
  EXPECT_THAT(lost_files(), Not(Contains(file)));
}

TEST_F(MappingGuardTest, ManyThreadsMayReadWhatIsLost) {
  const FileVersion file = version();
  const MappedFile mapped(path_);
  std::filesystem::resize_file(path_, 0);
  std::vector<std::thread> threads;
  for (size_t at = 0; at < 8; ++at)
    threads.emplace_back([&, at] {
      for (size_t byte = at; byte < mapped.size(); byte += 64)
        EXPECT_EQ(mapped.bytes()[byte], std::byte{0});
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(lost_files(), Contains(file));
}

TEST_F(MappingGuardTest, OtherBusErrorsEndTheProcess) {
  EXPECT_DEATH(raise(SIGBUS), "");
}

}  // namespace TEST_FILE
}  // namespace fxjit::support
