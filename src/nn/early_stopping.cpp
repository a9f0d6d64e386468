// SPDX-License-Identifier: Apache-2.0
#include "nn/early_stopping.h"

namespace moiety::nn {

EarlyStopping::EarlyStopping(std::int64_t patience, double min_delta)
    : patience_(patience), min_delta_(min_delta) {
  check<UserError>(patience >= 0, "early stopping: patience must not be negative, but is ",
                   patience);
  check<UserError>(min_delta >= 0, "early stopping: min_delta must not be negative, but is ",
                   min_delta);
}

bool EarlyStopping::observe(double validation) {
  if (validation < best_ - min_delta_) {
    best_ = validation;
    bad_validations_ = 0;
    return true;
  }
  ++bad_validations_;
  return false;
}

void EarlyStopping::save(Checkpoint& checkpoint, const std::string& prefix) const {
  checkpoint.set_f64(prefix + "best", best_);
  checkpoint.set_i64(prefix + "bad_validations", bad_validations_);
}

void EarlyStopping::restore(const Checkpoint& checkpoint, const std::string& prefix) {
  const double best = checkpoint.get_f64(prefix + "best");
  bad_validations_ = checkpoint.get_i64(prefix + "bad_validations");
  best_ = best;
}

}  // namespace moiety::nn
