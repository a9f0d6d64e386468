// SPDX-License-Identifier: Apache-2.0
#include "tensor/cpu_cores.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <thread>

#include "tensor/device.h"

namespace moiety {
namespace {

namespace fs = std::filesystem;
constexpr double kNoQuota = std::numeric_limits<double>::infinity();

/// A quota is "max" (v2) or -1 (v1) where there is none.
double cores_of(std::istream& quota_text, std::istream& period_text) {
  double quota = 0;
  double period = 0;
  if (!(quota_text >> quota) || !(period_text >> period)) return kNoQuota;
  return quota > 0 && period > 0 ? std::ceil(quota / period) : kNoQuota;
}

double quota_of(const fs::path& group) {
  std::ifstream v2(group / "cpu.max");
  std::ifstream v1_quota(group / "cpu.cfs_quota_us");
  std::ifstream v1_period(group / "cpu.cfs_period_us");
  return std::min(cores_of(v2, v2), cores_of(v1_quota, v1_period));
}

/// The tightest quota of a group and its parents. In a container the path is often that of the
/// host, of which only some parent (the mount itself) can be seen.
double tightest_quota(const fs::path& mount, fs::path group) {
  double cores = quota_of(mount);
  for (; group.has_relative_path(); group = group.parent_path()) {
    cores = std::min(cores, quota_of(mount / group.relative_path()));
  }
  return cores;
}

bool lists_cpu(const std::string& controllers) {
  std::istringstream names(controllers);
  for (std::string name; std::getline(names, name, ',');) {
    if (name == "cpu") return true;
  }
  return false;
}

}  // namespace

double cgroup_quota_cores(const fs::path& root) {
  const fs::path mount = root / "sys/fs/cgroup";
  double cores = quota_of(mount);
  std::ifstream groups(root / "proc/self/cgroup");  // "0::/path", "4:cpu,cpuacct:/path"
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) cores = std::min(cores, tightest_quota(mount, group));
    if (lists_cpu(controllers)) cores = std::min(cores, tightest_quota(mount / "cpu", group));
  }
  return cores;
}

int available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const bool known = sched_getaffinity(0, sizeof set, &set) == 0;
  const int cores = known ? CPU_COUNT(&set) : static_cast<int>(std::thread::hardware_concurrency());
  return static_cast<int>(std::min<double>(std::max(1, cores), cgroup_quota_cores()));
}

}  // namespace moiety
