// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "nn/checkpoint.h"

namespace moiety::nn {

/// Follows a validation loss (lower is better): which validation was the best one, and whether it
/// is time to stop.
class EarlyStopping {
 public:
  /// Stops after `patience` validations in a row that are not better than the best one by more than
  /// min_delta; a patience of 0 never stops. Throws UserError when either is negative.
  explicit EarlyStopping(std::int64_t patience = 0, double min_delta = 0);

  /// Takes the next validation loss; returns whether it is the best so far. NaN never is.
  bool observe(double validation);
  bool should_stop() const { return patience_ > 0 && bad_validations_ >= patience_; }

  double best() const { return best_; }  ///< infinity before the first finite one
  std::int64_t bad_validations() const { return bad_validations_; }  ///< in a row, since the best

  void save(Checkpoint& checkpoint, const std::string& prefix = "early_stopping.") const;
  void restore(const Checkpoint& checkpoint, const std::string& prefix = "early_stopping.");

 private:
  std::int64_t patience_;
  double min_delta_;
  double best_ = std::numeric_limits<double>::infinity();
  std::int64_t bad_validations_ = 0;
};

}  // namespace moiety::nn
