// SPDX-License-Identifier: Apache-2.0
#include "apps/memory_use.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include "apps/machine.h"
#include "apps/run_record.h"

namespace moiety::apps {

MemoryUse memory_use(Device& device) {
  const AllocatorStats stats = device.allocator().stats();
  rusage process{};
  getrusage(RUSAGE_SELF, &process);
  return {.peak_bytes = static_cast<std::int64_t>(stats.peak_in_use),
          .reserved_bytes = static_cast<std::int64_t>(stats.bytes_reserved),
          .device_bytes = static_cast<std::int64_t>(device.memory().total),
          .resident_bytes = std::int64_t{process.ru_maxrss} << 10};
}

nlohmann::json to_json(const MemoryUse& use) {
  return {{"peak_bytes", use.peak_bytes},
          {"reserved_bytes", use.reserved_bytes},
          {"device_bytes", use.device_bytes},
          {"resident_bytes", use.resident_bytes}};
}

std::string describe_memory(const nlohmann::json& summary) {
  const auto bytes = [&](const char* place) {
    return format_bytes(static_cast<std::int64_t>(number_at(summary, place).value_or(0)));
  };
  if (!number_at(summary, "/memory/peak_bytes")) return "";
  return fmt::format("peak {} of {} on {}; the program {} resident", bytes("/memory/peak_bytes"),
                     bytes("/memory/device_bytes"), text_at(summary, "/device"),
                     bytes("/memory/resident_bytes"));
}

void with_advice(const std::function<std::string()>& advice, const std::function<void()>& work) {
  try {
    work();
  } catch (const MemoryError& error) {
    throw MemoryError(concat(error.what(), "; ", advice()));
  }
}

std::string memory_advice(const Recipe& recipe) {
  std::string batch = fmt::format("data.batch_size ({})", recipe.data.batch_size);
  if (recipe.data.token_budget > 0) {
    batch = fmt::format("data.token_budget ({})", recipe.data.token_budget);
  } else if (recipe.data.node_budget > 0) {
    batch = fmt::format("data.node_budget ({}) and data.edge_budget ({})", recipe.data.node_budget,
                        recipe.data.edge_budget);
  }
  return fmt::format(
      "lower {}, with more train.accumulate ({}) for the same steps, or model.hidden ({}){}", batch,
      recipe.train.accumulate, recipe.model.hidden,
      recipe.train.recompute ? "" : ", or set train.recompute = true");
}

std::string memory_advice(const Device& device) {
  return device.is_cuda() ? "end what else uses this GPU, or predict with --device cpu"
                          : "end what else runs on this machine";
}

}  // namespace moiety::apps
