// SPDX-License-Identifier: Apache-2.0
#include "tensor/host_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace moiety {
namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

/// The number behind the first word `name` of a file, or `otherwise`.
std::size_t number_in(const std::filesystem::path& path, const std::string& name,
                      std::size_t otherwise) {
  std::ifstream file(path);
  std::size_t number = 0;
  for (std::string word; file >> word;) {
    if (word == name && file >> number) return number;
  }
  return otherwise;
}

/// The number that is all of a file, or `otherwise`: "max" is no number.
std::size_t number_of(const std::filesystem::path& path, std::size_t otherwise) {
  std::ifstream file(path);
  std::size_t number = 0;
  return file >> number ? number : otherwise;
}

std::size_t less(std::size_t a, std::size_t b) { return a > b ? a - b : 0; }

}  // namespace

DeviceMemory host_memory(const std::filesystem::path& root) {
  constexpr std::size_t kUnit = 1024;
  const auto meminfo = root / "proc/meminfo";
  const std::size_t total = number_in(meminfo, "MemTotal:", 0) * kUnit;
  const std::size_t available = number_in(meminfo, "MemAvailable:", 0) * kUnit;
  const std::size_t swap = number_in(meminfo, "SwapFree:", 0) * kUnit;

  const auto group = root / "sys/fs/cgroup";
  const std::size_t limit = number_of(group / "memory.max", kNoLimit);
  if (limit >= total) return {total, available + swap};
  const std::size_t caches = number_in(group / "memory.stat", "inactive_file", 0);
  const std::size_t used = less(number_of(group / "memory.current", 0), caches);
  return {limit, std::min(available + swap, less(limit, used))};
}

}  // namespace moiety
