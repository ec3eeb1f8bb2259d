#include "src/support/machine/cpu_quota.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace fxjit::support {
namespace TEST_FILE {

TEST(CpuQuota, ParsesCpuMax) {
  EXPECT_EQ(parse_cpu_max("max 100000\n"), std::nullopt);
  EXPECT_EQ(parse_cpu_max("150000 100000\n"), 1.5);
  EXPECT_EQ(parse_cpu_max("50000 100000"), 0.5);
  EXPECT_EQ(parse_cpu_max("400000 100000\n"), 4.0);
}

TEST(CpuQuota, IgnoresCpuMaxThatItDoesNotUnderstand) {
  for (const char* text :
       {"", "\n", "max", "100000", "1 2 3", "0 100000", "100000 0", "-1 100000",
        "ten 100000", "1x 10", "99999999999999999999 100000"})
    EXPECT_EQ(parse_cpu_max(text), std::nullopt) << text;
}

TEST(CpuQuota, ParsesCfsQuota) {
  EXPECT_EQ(parse_cfs_quota("-1\n", "100000\n"), std::nullopt);
  EXPECT_EQ(parse_cfs_quota("250000\n", "100000\n"), 2.5);
  EXPECT_EQ(parse_cfs_quota("", ""), std::nullopt);
  EXPECT_EQ(parse_cfs_quota("1000", "0"), std::nullopt);
}

constexpr char kV1Mounts[] =
    "30 25 0:26 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
    "31 25 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup "
    "cgroup rw,cpu,cpuacct\n"
    "32 25 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

TEST(CpuQuota, FindsTheV1Group) {
  auto found = find_cpu_cgroup(
      "5:cpuset:/other\n4:cpu,cpuacct:/jobs/a\n0::/unified\n", kV1Mounts,
      /*unified=*/false);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->unified);
  EXPECT_EQ(found->mount, "/sys/fs/cgroup/cpu,cpuacct");
  EXPECT_EQ(found->group, "/jobs/a");
}

TEST(CpuQuota, FindsTheV2Group) {
  auto found = find_cpu_cgroup("4:cpu:/jobs\n0::/\n", kV1Mounts, true);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->unified);
  EXPECT_EQ(found->mount, "/sys/fs/cgroup/unified");
  EXPECT_EQ(found->group, "");
}

TEST(CpuQuota, StripsTheRootOfAContainersMount) {
  auto found = find_cpu_cgroup(
      "4:cpu:/docker/1f/inner\n",
      "31 25 0:27 /docker/1f /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n",
      false);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->group, "/inner");
}

TEST(CpuQuota, FindsNothingInUnrelatedText) {
  EXPECT_FALSE(find_cpu_cgroup("", "", true));
  EXPECT_FALSE(find_cpu_cgroup("0::/a\n", "", true));
  EXPECT_FALSE(find_cpu_cgroup("5:cpuset:/a\n", kV1Mounts, false));
  EXPECT_FALSE(find_cpu_cgroup("nonsense\n:::\n", "- -\n - \na - b\n", false));
}

class CgroupFolder : public ::testing::Test {
 protected:
  CgroupFolder()
      : root_(std::filesystem::path(::testing::TempDir()) /
              ("fxjit_cgroup_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(root_ / "a/b");
  }
  ~CgroupFolder() override { std::filesystem::remove_all(root_); }

  void write(const std::string& file, const std::string& text) {
    std::ofstream(root_ / file) << text;
  }

  std::filesystem::path root_;
};

TEST_F(CgroupFolder, TheTightestQuotaOnTheWayUpCounts) {
  write("a/b/cpu.max", "400000 100000\n");
  write("a/cpu.max", "150000 100000\n");
  CpuCgroup cgroup{.unified = true, .mount = root_, .group = "/a/b"};
  EXPECT_EQ(cgroup_cpus(cgroup), 1.5);
  write("cpu.max", "100000 100000\n");
  EXPECT_EQ(cgroup_cpus(cgroup), 1.0);
}

TEST_F(CgroupFolder, V1QuotasAndUnlimitedGroups) {
  CpuCgroup cgroup{.unified = false, .mount = root_, .group = "/a/b"};
  EXPECT_EQ(cgroup_cpus(cgroup), std::nullopt);
  write("a/b/cpu.cfs_quota_us", "-1\n");
  write("a/b/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_cpus(cgroup), std::nullopt);
  write("a/cpu.cfs_quota_us", "300000\n");
  write("a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_cpus(cgroup), 3.0);
}

TEST(CpuQuota, AvailableCpusRespectsAffinity) {
  EXPECT_GE(available_cpus(), 1);
  EXPECT_LE(available_cpus(), affinity_cpus());
  std::thread([] {  // The mask is per thread: leaves the test's own alone.
    cpu_set_t mask;
    ASSERT_EQ(sched_getaffinity(0, sizeof(mask), &mask), 0);
    int first = 0;
    while (!CPU_ISSET(first, &mask)) ++first;
    CPU_ZERO(&mask);
    CPU_SET(first, &mask);
    ASSERT_EQ(sched_setaffinity(0, sizeof(mask), &mask), 0);
    EXPECT_EQ(affinity_cpus(), 1);
    EXPECT_EQ(available_cpus(), 1);
  })
      .join();
}

}  // namespace TEST_FILE
}  // namespace fxjit::support
