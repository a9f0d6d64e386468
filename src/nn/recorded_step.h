// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <variant>
#include <vector>

#include "nn/ema.h"
#include "nn/flat_parameters.h"
#include "nn/forward_context.h"
#include "nn/optimizer.h"
#include "tensor/packed_batch.h"

namespace moiety::nn {

/// The loss of a batch, of graphs or of tokens: the sum over its targets or labels, f32 [].
using GraphLoss = std::function<Variable(const GraphBatch& batch, ForwardContext& context)>;
using TokenLoss = std::function<Variable(const TokenBatch& batch, ForwardContext& context)>;
using BatchLoss = std::variant<GraphLoss, TokenLoss>;

/// What a replay finds beside its batch, as it lies in PackedBatch::extra.
struct StepNumbers {
  static constexpr std::size_t kMostKeys = 256;

  alignas(64) double lr = 0;                         ///< learning rate
  alignas(64) double ema_weight = 0;                 ///< of the parameters in their average
  alignas(64) float scale = 0;                       ///< of the loss and the gradients
  alignas(64) std::array<RngKey, kMostKeys> keys{};  ///< of the layers with dropout
};

/// A part of a training step: a batch, and where in the step it stands.
struct StepPart {
  PackedBatch batch;        ///< on the staging device, with sizeof(StepNumbers) bytes of its own
  std::uint64_t seed = 0;   ///< of dropout
  std::uint64_t step = 0;   ///< number of the step, from 0
  std::int64_t number = 0;  ///< of the part in the step, from 0: its gradients add to those before
  bool last = true;         ///< the parameters move after it
  double lr = 0;
  double scale = 1;  ///< of the sum of losses: 1 / targets or labels of the step
};

/// What a step did.
struct StepResult {
  double loss = 0;
  StepReport report;
};

/// Training steps for a device that is faster than its host. Forward and backward pass, clipping,
/// update and averages of one size of batch are recorded once and replayed for every other batch of
/// that size (see PackedBatch); batches are copied on a stream of their own while the step before
/// them runs, and the host never waits within a step, but learns what a step did some steps later.
///
/// The first batch of a size runs as it is, the second is recorded; their bits are the same.
class RecordedStep {
 public:
  /// All must outlive it. `ema` may be null.
  RecordedStep(const FlatParameters& parameters, const FlatBuffer& gradients, Optimizer& optimizer,
               Ema* ema, BatchLoss loss);
  ~RecordedStep();
  RecordedStep(const RecordedStep&) = delete;
  RecordedStep& operator=(const RecordedStep&) = delete;

  /// Queues a part of a step. Throws Error as Optimizer::step does, for a step of some time ago.
  void run(StepPart part);
  /// What steps did of which that was not told yet, oldest first: of those that are done, or of all
  /// that are queued, waiting for them.
  std::vector<StepResult> results(bool wait);

  /// Sizes that are recorded.
  std::int64_t recordings() const;

 private:
  struct Program;
  struct Flight;
  struct Key {
    std::array<std::int64_t, 4> extents;
    bool first;
    bool last;
    auto operator<=>(const Key&) const = default;
  };

  Program& program_for(const StepPart& part);
  void write_numbers(const StepPart& part, std::size_t key_count) const;
  void upload(Flight& flight, const Tensor& to);
  /// Returns how many dropout keys it took.
  std::size_t work(const PackedBatch& batch, bool first, bool last) const;
  void land(Flight& flight);

  const FlatParameters& parameters_;
  const FlatBuffer& gradients_;
  Optimizer& optimizer_;
  Ema* ema_;
  BatchLoss loss_;
  Device& device_;
  std::map<Key, std::unique_ptr<Program>> programs_;
  std::vector<std::unique_ptr<Flight>> flights_;  // a ring
  std::size_t next_flight_ = 0;
  std::vector<StepResult> results_;
  std::uint64_t clock_ = 0;
};

}  // namespace moiety::nn
