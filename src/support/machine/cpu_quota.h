// How many CPUs this process may use: affinity mask and cgroup quota. Called
// when the thread pool is made; the parsers take file text so that tests need
// no cgroup. Reads /proc and /sys, writes nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fxjit::support {

// The smaller of the calling thread's affinity and the tightest cgroup v1 or v2
// quota on the way to the root, rounded up; at least 1. Read afresh each time.
int available_cpus();

// CPUs in the affinity mask of the calling thread; at least 1.
int affinity_cpus();

// CPUs granted by the text of v2's cpu.max ("max 100000", "150000 100000").
// None when unlimited or not understood.
std::optional<double> parse_cpu_max(std::string_view text);

// The same for v1's cpu.cfs_quota_us and cpu.cfs_period_us.
std::optional<double> parse_cfs_quota(std::string_view quota,
                                      std::string_view period);

// Where a hierarchy that may limit CPU time is mounted and which group this
// process is in.
struct CpuCgroup {
  bool unified = false;  // v2; else v1 with the cpu controller.
  std::string mount;     // Mount point.
  std::string group;     // Path of the group below it, "" or "/a/b".
};

// From the texts of /proc/self/cgroup and /proc/self/mountinfo. None when the
// hierarchy of that version is not there.
std::optional<CpuCgroup> find_cpu_cgroup(std::string_view self_cgroup,
                                         std::string_view mountinfo,
                                         bool unified);

// The tightest quota of the group and its ancestors; none when unlimited.
std::optional<double> cgroup_cpus(const CpuCgroup& cgroup);

}  // namespace fxjit::support
