// SPDX-License-Identifier: Apache-2.0
#include "apps/graph_task.h"

#include <iterator>

#include "apps/evaluation.h"
#include "data/collate.h"
#include "data/convert.h"
#include "data/featurize.h"

namespace moiety::apps {
namespace {

/// Atoms of a part of a batch. On a CPU: enough rows for the dense products, few enough that the
/// activations of a layer stay in a core's cache. On a GPU: enough to fill it, few enough for its
/// memory. The cut never depends on the number of threads.
std::int64_t nodes_per_part(const Device& device) {
  constexpr std::int64_t kOfCache = 320;
  constexpr std::int64_t kOfGpu = 32768;
  return device.is_cuda() ? kOfGpu : kOfCache;
}

/// Batches of one step form one larger batch: dropout must not repeat itself in the second.
std::vector<GraphBatch> join(std::vector<data::LoadedBatch> batches) {
  std::vector<GraphBatch> parts;
  std::int64_t nodes = 0;
  std::int64_t graphs = 0;
  for (data::LoadedBatch& batch : batches) {
    for (GraphBatch& part : batch.parts) {
      part.first_node += nodes;
      part.first_graph += graphs;
    }
    std::ranges::move(batch.parts, std::back_inserter(parts));
    nodes = parts.back().first_node + parts.back().nodes();
    graphs = parts.back().first_graph + parts.back().graphs();
  }
  return parts;
}

class GraphObjective final : public SupervisedObjective {
 public:
  GraphObjective(const GraphTask& task, const data::Dataset& dataset, const Recipe& recipe)
      : SupervisedObjective(task, dataset, recipe), model_(task.model()), device_(task.device()) {}

  bool couples_molecules() const override { return model_.couples_molecules(); }

  data::LoaderOptions loader_options() const override {
    return {.nodes_per_part = couples_molecules() ? 0 : nodes_per_part(device_)};
  }

  StepParts step_parts(std::vector<data::LoadedBatch> batches) const override {
    auto parts = std::make_shared<const std::vector<GraphBatch>>(join(std::move(batches)));
    StepParts out;
    out.count = std::ssize(*parts);
    for (const GraphBatch& part : *parts) out.counted += present(part.y);
    out.loss = [this, parts](std::int64_t i, nn::ForwardContext& context, double scale) {
      const GraphBatch& part = (*parts)[static_cast<std::size_t>(i)];
      return loss(model_.forward(part, context), part.y, scale);
    };
    return out;
  }

  std::optional<RecordedBatches> recorded() const override {
    RecordedBatches out;
    out.loader.pack = [this](const GraphBatch& batch) {
      GraphBatch wanted = batch;
      wanted.y = targets().wanted(batch.y, columns());
      return pack(wanted, padded_size(batch), sizeof(nn::StepNumbers), device_.staging());
    };
    out.counted = [](const PackedBatch& batch) { return count_present(batch.graphs.y); };
    out.loss = nn::GraphLoss([this](const GraphBatch& batch, nn::ForwardContext& context) {
      return targets().loss(model_.forward(batch, context), batch.y, recipe(), 1.0);
    });
    return out;
  }

 private:
  const nn::GraphModel& model_;
  Device& device_;
};

std::vector<data::ConvertedRow> convert(std::span<const data::SourceRow> rows, Device& device) {
  std::vector<data::ConvertedRow> out(rows.size());
  device.host().stream().pool().run(std::ssize(rows), [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    out[at] = data::convert_row(rows[at], {});
  });
  return out;
}

}  // namespace

GraphTask::GraphTask(const ModelSpec& spec, Device& device, std::uint64_t seed)
    : SupervisedTask(spec, device) {
  nn::Initializer init(device, seed);
  model_ = std::make_unique<nn::GraphModel>(init, spec.graph);
}

void GraphTask::check_data(const data::Dataset& dataset) const {
  check_features(spec(), dataset.info().features, dataset.path());
}

void GraphTask::check_texts(const std::string& path) const {
  check_features(spec(), data::ogb_schema(), path);
}

std::unique_ptr<Objective> GraphTask::objective(const data::Dataset& dataset,
                                                const Recipe& recipe) const {
  return std::make_unique<GraphObjective>(*this, dataset, recipe);
}

std::vector<double> GraphTask::predict_part(const GraphBatch& part) const {
  nn::ForwardContext context;
  return targets().restore(model_->forward(to_device(part, device()), context).data());
}

std::vector<double> GraphTask::predict_values(const data::Dataset& dataset,
                                              std::span<const std::int64_t> rows) const {
  return predict_in_parts<GraphBatch>(
      nodes_per_part(device()),
      [&](std::int64_t nodes) {
        return data::collate_parts(dataset, rows, nodes, device().host());
      },
      [this](const GraphBatch& part) { return predict_part(part); }, device());
}

std::vector<RowPrediction> GraphTask::predict(std::span<const data::SourceRow> rows,
                                              std::int64_t) const {
  std::vector<data::ConvertedRow> converted = convert(rows, device());
  std::vector<data::MoleculeRecord> molecules;
  std::vector<std::string> problems;
  for (data::ConvertedRow& row : converted) {
    if (row.molecule) molecules.push_back(std::move(*row.molecule));
    problems.push_back(row.molecule ? "" : row.rejection.reason);
  }
  const auto values = predict_in_parts<GraphBatch>(
      nodes_per_part(device()),
      [&](std::int64_t nodes) {
        return data::collate_parts(molecules, data::ogb_schema(), 0, nodes, device().host());
      },
      [this](const GraphBatch& part) { return predict_part(part); }, device());
  return rows_with_problems(values, spec().targets.size(), std::move(problems));
}

}  // namespace moiety::apps
