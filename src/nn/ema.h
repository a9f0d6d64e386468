// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nn/checkpoint_tensors.h"
#include "nn/flat_parameters.h"

namespace moiety::nn {

/// An exponential moving average of the parameters, which often validates better than they do.
class Ema {
 public:
  /// The parameters must outlive it. With warm-up the decay of update t (from 0) is
  /// min(decay, (1 + t) / (10 + t)), so that the first weights are soon forgotten. Throws UserError
  /// unless 0 <= decay < 1.
  Ema(const FlatParameters& parameters, double decay, bool warmup = true);

  /// average <- decay * average + (1 - decay) * parameters
  void update();
  /// The same in two halves, for work that is recorded: the weight of the parameters in the next
  /// update, which counts as done, and the update by a weight on the device (f64, one element).
  double next_weight();
  void enqueue(const TensorView& weight);

  const FlatBuffer& average() const { return average_; }
  std::int64_t updates() const { return updates_; }

  /// Puts the average into the parameters while it lives, and gives them back at its end. Not to be
  /// updated meanwhile.
  class Swapped {
   public:
    explicit Swapped(const Ema& ema);
    ~Swapped();
    Swapped(const Swapped&) = delete;
    Swapped& operator=(const Swapped&) = delete;

   private:
    const Ema& ema_;
    Tensor trained_;  // kept apart, so that the destructor allocates nothing
  };

  void save(Checkpoint& checkpoint, const std::string& prefix = "ema.") const;
  void restore(const Checkpoint& checkpoint, const std::string& prefix = "ema.");

 private:
  std::vector<NamedTensor> named_averages() const;

  const FlatParameters& parameters_;
  double decay_;
  bool warmup_;
  FlatBuffer average_;
  std::int64_t updates_ = 0;
};

}  // namespace moiety::nn
