// SPDX-License-Identifier: Apache-2.0
#include "apps/summary.h"

namespace moiety::apps {

nlohmann::json to_json(const Summary& summary) {
  nlohmann::json object = {{"name", summary.name},
                           {"model", summary.model},
                           {"dataset", summary.dataset},
                           {"metrics", nlohmann::json::object()},
                           {"baseline", nlohmann::json::object()},
                           {"chosen_by", summary.chosen_by},
                           {"molecules", summary.molecules},
                           {"seconds", summary.seconds},
                           {"molecules_per_second", summary.molecules_per_second},
                           {"world_size", summary.world_size},
                           {"parameters", summary.parameters},
                           {"seed", summary.seed},
                           {"epochs", summary.epochs},
                           {"steps", summary.steps},
                           {"device", summary.device},
                           {"threads", summary.threads},
                           {"precision", summary.precision},
                           {"memory", to_json(summary.memory)},
                           {"stopped_by", summary.stopped_by},
                           {"machine", to_json(summary.machine)}};
  for (const auto& [split, scores] : summary.metrics) object["metrics"][split] = to_json(scores);
  for (const auto& [name, splits] : summary.baselines) {
    for (const auto& [split, scores] : splits) object["baseline"][name][split] = to_json(scores);
  }
  return object;
}

}  // namespace moiety::apps
