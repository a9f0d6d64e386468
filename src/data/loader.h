// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "data/sampler.h"
#include "data/token_collate.h"
#include "tensor/device.h"
#include "tensor/packed_batch.h"
#include "tensor/token_batch.h"

namespace moiety::data {

struct LoaderOptions {
  std::int64_t nodes_per_part = 0;  ///< atoms of a part of a batch; 0: one part
  std::int64_t end_epoch = 1;       ///< stops before this epoch
  int prefetch = 4;                 ///< batches made ahead of the consumer, at least 1
  /// Where given, batches of one part become packed ones, in the loader's thread.
  std::function<PackedBatch(const GraphBatch&)> pack = {};
  /// Where given, batches are of sequences, not of graphs. The epoch is that of the cursor.
  std::optional<SequenceBatching> sequences = {};
  std::int64_t tokens_per_part = 0;  ///< tokens of a part of such a batch; 0: one part
  /// As `pack`, for batches of sequences.
  std::function<PackedBatch(const TokenBatch&)> pack_sequences = {};
};

/// One step's molecules on this rank, in parts, and its place in the sequence.
struct LoadedBatch {
  std::vector<GraphBatch> parts;      ///< none when this rank has no molecule in the step
  std::optional<PackedBatch> packed;  ///< in their place, where the options say so
  std::vector<TokenBatch> sequences;  ///< in their place, for sequences
  std::int64_t molecules = 0;         ///< on this rank, over all parts
  std::int64_t global_molecules = 0;  ///< on all ranks
  Cursor cursor;                      ///< of this batch
  Cursor next;                        ///< where to resume after it
  bool last_of_epoch = false;
};

/// Makes batches in a thread of its own, in the sampler's order, a bounded number ahead. Resumes at
/// any cursor. The device (a CPU) must outlive the loader and the batches.
class Loader {
 public:
  /// Throws UserError for options or a cursor out of range.
  Loader(const Dataset& dataset, const Sampler& sampler, Device& device,
         const LoaderOptions& options, Cursor start = {});
  /// Stops the thread at once, wherever it is.
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// The next batch, waiting for it; nothing after the last one. Rethrows what went wrong in the
  /// reader thread, after the batches made before it.
  std::optional<LoadedBatch> next();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace moiety::data
