// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "tensor/device.h"

namespace moiety {

/// The machine's memory, or that of this process's control group where that is less. What the
/// system could take back from caches counts as free, as does swap space. `root` is where /proc and
/// /sys are looked for.
DeviceMemory host_memory(const std::filesystem::path& root = "/");

}  // namespace moiety
