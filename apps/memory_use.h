// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/recipe.h"
#include "tensor/device.h"

namespace moiety::apps {

/// What a process has used of a device's memory at most, in bytes.
struct MemoryUse {
  std::int64_t peak_bytes = 0;      ///< in tensors
  std::int64_t reserved_bytes = 0;  ///< taken from the device to cut tensors from
  std::int64_t device_bytes = 0;    ///< all that it has
  std::int64_t resident_bytes = 0;  ///< of the machine's memory, by all of the process
};

/// Up to now, of this process.
MemoryUse memory_use(Device& device);
nlohmann::json to_json(const MemoryUse& use);

/// "peak 1.2 GiB of 139.8 GiB on cuda:0; the program 2.1 GiB resident" from a summary; "" where it
/// does not say.
std::string describe_memory(const nlohmann::json& summary);

/// Runs what may need more memory than there is; a MemoryError then says what to do about it as
/// well.
void with_advice(const std::function<std::string()>& advice, const std::function<void()>& work);
/// What to do in a training.
std::string memory_advice(const Recipe& recipe);
/// What to do in a prediction, which cuts its batches to what fits by itself.
std::string memory_advice(const Device& device);

}  // namespace moiety::apps
