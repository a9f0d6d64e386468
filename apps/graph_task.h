// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/supervised_task.h"
#include "nn/graph_model.h"

namespace moiety::apps {

/// Learns targets from molecular graphs.
class GraphTask final : public SupervisedTask {
 public:
  GraphTask(const ModelSpec& spec, Device& device, std::uint64_t seed);

  const nn::GraphModel& model() const override { return *model_; }
  void check_data(const data::Dataset& dataset) const override;
  void check_texts(const std::string& path) const override;
  std::unique_ptr<Objective> objective(const data::Dataset& dataset,
                                       const Recipe& recipe) const override;
  std::vector<RowPrediction> predict(std::span<const data::SourceRow> rows,
                                     std::int64_t first_row) const override;
  using SupervisedTask::predict;

 protected:
  std::vector<double> predict_values(const data::Dataset& dataset,
                                     std::span<const std::int64_t> rows) const override;

 private:
  /// Predictions for graphs in one part.
  std::vector<double> predict_part(const GraphBatch& part) const;

  std::unique_ptr<nn::GraphModel> model_;
};

}  // namespace moiety::apps
