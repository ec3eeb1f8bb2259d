#include "src/support/machine/cpu_quota.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/support/disk/text_file.h"

namespace fxjit::support {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
    text.remove_suffix(1);
  return text;
}

std::optional<int64_t> parse_int(std::string_view text) {
  text = trimmed(text);
  int64_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

std::optional<double> smaller(std::optional<double> a,
                              std::optional<double> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

bool has_word(std::string_view list, std::string_view word) {
  std::vector<std::string_view> words = split(list, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The group's path in a line of /proc/self/cgroup, "4:cpu,cpuacct:/a" or
// "0::/a".
std::optional<std::string_view> group_path(std::string_view self_cgroup,
                                           bool unified) {
  for (std::string_view line : split(self_cgroup, '\n')) {
    size_t first = line.find(':');
    size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (unified ? line.starts_with("0::") : has_word(controllers, "cpu"))
      return line.substr(second + 1);
  }
  return std::nullopt;
}

std::optional<double> group_cpus(const CpuCgroup& cgroup,
                                 const std::string& folder) {
  if (cgroup.unified) return parse_cpu_max(read_text_file(folder + "/cpu.max"));
  return parse_cfs_quota(read_text_file(folder + "/cpu.cfs_quota_us"),
                         read_text_file(folder + "/cpu.cfs_period_us"));
}

std::optional<double> quota_cpus() {
  std::string self = read_text_file("/proc/self/cgroup");
  std::string mounts = read_text_file("/proc/self/mountinfo");
  std::optional<double> cpus;
  for (bool unified : {false, true}) {
    if (auto cgroup = find_cpu_cgroup(self, mounts, unified))
      cpus = smaller(cpus, cgroup_cpus(*cgroup));
  }
  return cpus;
}

}  // namespace

std::optional<double> parse_cfs_quota(std::string_view quota,
                                      std::string_view period) {
  std::optional<int64_t> quota_us = parse_int(quota);
  std::optional<int64_t> period_us = parse_int(period);
  if (!quota_us || !period_us || *quota_us <= 0 || *period_us <= 0)
    return std::nullopt;
  return static_cast<double>(*quota_us) / static_cast<double>(*period_us);
}

std::optional<double> parse_cpu_max(std::string_view text) {
  std::vector<std::string_view> words = split(trimmed(text), ' ');
  if (words.size() != 2) return std::nullopt;
  return parse_cfs_quota(words[0], words[1]);  // "max" is no number.
}

std::optional<CpuCgroup> find_cpu_cgroup(std::string_view self_cgroup,
                                         std::string_view mountinfo,
                                         bool unified) {
  auto path = group_path(self_cgroup, unified);
  if (!path) return std::nullopt;
  // Fields: id parent device root mount-point options [optional...] - type
  // source super-options.
  for (std::string_view line : split(mountinfo, '\n')) {
    size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    std::vector<std::string_view> head = split(line.substr(0, dash), ' ');
    std::vector<std::string_view> tail = split(line.substr(dash + 3), ' ');
    if (head.size() < 5 || tail.size() < 3) continue;
    bool wanted = unified ? tail[0] == "cgroup2"
                          : tail[0] == "cgroup" && has_word(tail[2], "cpu");
    if (!wanted) continue;
    // In a container the mount shows only the subtree below `root`.
    std::string_view group = *path;
    if (head[3] != "/" && group.starts_with(head[3]))
      group.remove_prefix(head[3].size());
    if (group == "/") group = "";
    return CpuCgroup{.unified = unified,
                     .mount = std::string(head[4]),
                     .group = std::string(group)};
  }
  return std::nullopt;
}

std::optional<double> cgroup_cpus(const CpuCgroup& cgroup) {
  std::optional<double> cpus;
  for (std::string group = cgroup.group;;) {
    cpus = smaller(cpus, group_cpus(cgroup, cgroup.mount + group));
    if (group.empty()) return cpus;
    size_t slash = group.rfind('/');
    group.resize(slash == std::string::npos ? 0 : slash);
  }
}

int affinity_cpus() {
  // The kernel refuses a mask smaller than its own: grow until it fits.
  for (int capacity = 1024; capacity <= 1 << 20; capacity *= 4) {
    struct Free {
      void operator()(cpu_set_t* set) const { CPU_FREE(set); }
    };
    std::unique_ptr<cpu_set_t, Free> set(CPU_ALLOC(capacity));
    if (set == nullptr) break;
    size_t bytes = CPU_ALLOC_SIZE(capacity);
    if (sched_getaffinity(0, bytes, set.get()) == 0)
      return std::max(1, CPU_COUNT_S(bytes, set.get()));
  }
  return 1;
}

int available_cpus() {
  int cpus = affinity_cpus();
  if (std::optional<double> quota = quota_cpus(); quota && *quota < cpus)
    cpus = static_cast<int>(std::ceil(*quota));
  return std::max(cpus, 1);
}

}  // namespace fxjit::support
