// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace moiety {

/// Cores that the CPU quota of this process's control group and of those above it allows, rounded
/// up; infinity without a quota. Reads cgroup v2 and v1 below `root` ("/" but in tests).
double cgroup_quota_cores(const std::filesystem::path& root = "/");

}  // namespace moiety
