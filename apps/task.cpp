// SPDX-License-Identifier: Apache-2.0
#include "apps/task.h"

#include "apps/graph_task.h"

namespace moiety::apps {

std::unique_ptr<Task> make_task(const ModelSpec& spec, Device& device, std::uint64_t seed) {
  return std::make_unique<GraphTask>(spec, device, seed);
}

}  // namespace moiety::apps
