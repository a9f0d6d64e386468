// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/optimizer.h"
#include "nn/checkpoint_tensors.h"
#include "nn/flat_parameters.h"

namespace moiety::nn {

enum class OptimizerKind : std::uint8_t { sgd, adam, adamw };

/// "sgd", "adam", "adamw".
std::string name_of(OptimizerKind kind);
/// The reverse. Throws UserError listing the names.
OptimizerKind optimizer_kind(const std::string& name);

struct OptimizerConfig {
  OptimizerKind kind = OptimizerKind::adamw;
  double momentum = 0.9;  ///< sgd; 0 keeps no moments
  bool nesterov = false;  ///< sgd
  double beta1 = 0.9;     ///< adam, adamw
  double beta2 = 0.999;
  double eps = 1e-8;

  double weight_decay = 0;     ///< decoupled for adamw, added to the gradient for sgd and adam
  bool decay_vectors = false;  ///< decay parameters of fewer than two dimensions (biases, norms)
  std::vector<std::string> no_decay = {};  ///< nor is a parameter decayed whose name contains one
                                           ///< of these, such as "embedding"

  double clip_norm = 0;  ///< the longest gradient, as a Euclidean norm over all parameters; 0 = any
  std::int64_t max_skipped = 10;  ///< steps in a row that may be skipped, see step()

  /// What the loss is multiplied with at first, so that gradients in f16 do not become 0; a power
  /// of two, or 0: the loss is not scaled. It halves when a gradient overflows (that step is
  /// skipped) and doubles after so many good steps.
  double loss_scale = 0;
  std::int64_t loss_scale_interval = 2000;
};

/// What a step did.
struct StepReport {
  double gradient_norm = 0;           ///< before clipping
  bool skipped = false;               ///< it was not finite: the parameters were left alone
  std::int64_t skipped_in_a_row = 0;  ///< up to this step
  double loss_scale = 1;              ///< of the next step
};

/// SGD, Adam (Kingma and Ba, ICLR 2015) or AdamW (Loshchilov and Hutter, ICLR 2019) with PyTorch's
/// definitions, over all parameters in one pass that also clips.
class Optimizer {
 public:
  /// The parameters must outlive it. Throws UserError naming the setting that is out of range.
  Optimizer(const FlatParameters& parameters, const OptimizerConfig& config);

  /// One update with rate lr. Gradients have the parameters' layout and are left as they are. Where
  /// the norm or its square is not finite, moments and parameters stay as they were and the step
  /// counts as skipped; throws Error when more than max_skipped are in a row.
  StepReport step(const FlatBuffer& gradients, double lr);

  /// Queues the same update without waiting for it, with the rate in lr: f64, one element, on the
  /// parameters' device. What it did is in decision().
  void enqueue(const FlatBuffer& gradients, const TensorView& lr);
  /// What the backward pass of a loss that counts `scale` times, f32 or f64 [] on the parameters'
  /// device, begins with: the same where the loss is not scaled. It does not wait for the steps
  /// that are queued.
  Tensor loss_seed(const Tensor& scale) const;
  /// kernels::StepDecision of the last step: f64 [kernels::kDecisionSize].
  const Tensor& decision() const { return decision_; }
  static StepReport report(const kernels::StepDecision& decision);
  /// Throws Error when that many steps in a row must not be skipped.
  void check_skipped(const StepReport& report) const;

  std::int64_t steps() const;  ///< updates done; waits for those that are queued, as skipped() does
  std::int64_t skipped() const;
  const OptimizerConfig& config() const { return config_; }
  /// Whether weight decay applies to parameter number i.
  bool decays(std::size_t i) const { return decays_[i]; }

  /// Moments under the parameters' own names and shapes, so that any layout can load them.
  void save(Checkpoint& checkpoint, const std::string& prefix = "optimizer.") const;
  /// Throws IoError when the checkpoint was written with another kind of optimizer or model.
  void restore(const Checkpoint& checkpoint, const std::string& prefix = "optimizer.");

 private:
  struct Moment {
    std::string name;
    FlatBuffer buffer;
  };

  bool scales_loss() const { return config_.loss_scale > 0; }
  kernels::StepDecision read_decision() const;
  void write_decision(const kernels::StepDecision& decision);
  std::vector<NamedTensor> named_moments() const;

  const FlatParameters& parameters_;
  OptimizerConfig config_;
  std::vector<bool> decays_;
  std::vector<kernels::DecayRange> decay_ranges_;
  std::vector<Moment> moments_;
  Tensor decision_;
  Tensor lr_;  // f64 [1]: of step()
};

}  // namespace moiety::nn
