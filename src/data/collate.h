// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "data/molecule_record.h"
#include "tensor/device.h"
#include "tensor/graph_batch.h"

namespace moiety::data {

/// The molecules as one batch, in the order given, with both CSR forms. Tensors are on `device`, a
/// CPU. Throws ShapeError for a row out of range or a batch too large for 32-bit offsets, and
/// IoError when the file has changed under us.
GraphBatch collate(const Dataset& dataset, std::span<const std::int64_t> molecules, Device& device);

/// The same batch cut into parts: contiguous runs of molecules of about `nodes_per_part` atoms
/// each, at least one; 0 asks for one part. The cut depends on the batch alone.
std::vector<GraphBatch> collate_parts(const Dataset& dataset,
                                      std::span<const std::int64_t> molecules,
                                      std::int64_t nodes_per_part, Device& device);

/// Likewise from records in memory, for prediction without a data set; `index` counts from
/// `first_row`. The records must be valid for `features` (the featuriser makes such).
std::vector<GraphBatch> collate_parts(std::span<const MoleculeRecord> molecules,
                                      const FeatureSchema& features, std::int64_t first_row,
                                      std::int64_t nodes_per_part, Device& device);

}  // namespace moiety::data
