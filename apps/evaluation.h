// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "apps/model_spec.h"
#include "apps/predictions.h"
#include "data/dataset.h"
#include "nn/graph_model.h"

namespace moiety::apps {

/// Atoms of a part of a batch. On a CPU: enough rows for the dense products, few enough that the
/// activations of a layer stay in a core's cache. On a GPU: enough to fill it, few enough for its
/// memory. The cut never depends on the number of threads.
std::int64_t nodes_per_part(const Device& device);

/// Predictions of the model for molecules in parts, [M * T] in the targets' own units, row by row.
/// Parts lie on the device's host; they are spread over a CPU's threads, or go to a GPU in turn.
std::vector<double> predict_parts(const nn::GraphModel& model, const nn::TargetScaler& scaler,
                                  std::span<const GraphBatch> parts, Device& device);

/// The same for molecules that `collate(nodes)` cuts into parts of so many atoms: nodes_per_part(),
/// or where the memory of a GPU does not hold what comes of a part, half as many, and so on.
std::vector<double> predict_in_parts(
    const nn::GraphModel& model, const nn::TargetScaler& scaler,
    const std::function<std::vector<GraphBatch>(std::int64_t nodes)>& collate, Device& device);

/// Predictions for rows of a data set, in their order, beside the truth where `columns` [T] names
/// the targets' columns. With `names`, SMILES and identifiers are read as well.
Predictions predict_rows(const nn::GraphModel& model, const ModelSpec& spec,
                         const data::Dataset& dataset, std::span<const std::int64_t> rows,
                         std::span<const std::size_t> columns, bool names, Device& device);

}  // namespace moiety::apps
