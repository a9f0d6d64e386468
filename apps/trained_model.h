// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "apps/model_spec.h"
#include "nn/graph_model.h"

namespace moiety::apps {

/// A model with its weights, ready to predict.
struct TrainedModel {
  ModelSpec spec;
  std::unique_ptr<nn::GraphModel> model;
};

/// Whether a file begins as checkpoints do, whole or damaged.
bool is_checkpoint(const std::filesystem::path& file);

/// Loads a checkpoint. Throws IoError naming the file when it is damaged or no model.
TrainedModel load_model(const std::filesystem::path& checkpoint, Device& device);

/// The best weights of a run directory, or a checkpoint file itself. Throws UserError when there
/// are none.
TrainedModel load_model_of(const std::filesystem::path& run_or_checkpoint, Device& device);

}  // namespace moiety::apps
