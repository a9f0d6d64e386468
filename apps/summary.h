// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/machine.h"
#include "apps/memory_use.h"
#include "apps/metrics.h"

namespace moiety::apps {

/// What a run amounts to: summary.json.
struct Summary {
  std::string name;                            ///< the headline of the report
  std::string model;                           ///< "gcn, 5 layers of 128"
  std::string dataset;                         ///< its path
  std::map<std::string, SplitScores> metrics;  ///< by split: train, valid, test
  /// By name, then split: "mean predictor" -> "test" -> scores. Shown beside the model's.
  std::map<std::string, std::map<std::string, SplitScores>> baselines;
  std::string chosen_by;                          ///< what the best weights were chosen by
  std::map<std::string, std::int64_t> molecules;  ///< by split
  double seconds = 0;                             ///< of training, over all restarts
  double molecules_per_second = 0;                ///< trained on, forward and backward
  std::int64_t world_size = 1;
  std::int64_t parameters = 0;
  std::int64_t seed = 0;
  std::int64_t epochs = 0;
  std::int64_t steps = 0;
  std::string device;
  int threads = 0;
  std::string precision;
  MemoryUse memory;
  std::string stopped_by;  ///< "finished", "early stopping", "signal"
  Machine machine;
};

/// metrics.test.mae and so on; baseline.<name>.test.mae.
nlohmann::json to_json(const Summary& summary);

}  // namespace moiety::apps
