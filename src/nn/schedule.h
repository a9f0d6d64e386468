// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "nn/checkpoint.h"

namespace moiety::nn {

enum class ScheduleKind : std::uint8_t { constant, step, cosine, one_cycle, plateau };

/// "constant", "step", "cosine", "one_cycle", "plateau".
std::string name_of(ScheduleKind kind);
/// The reverse. Throws UserError listing the names.
ScheduleKind schedule_kind(const std::string& name);

/// All lengths are in optimizer steps.
struct ScheduleConfig {
  ScheduleKind kind = ScheduleKind::constant;
  double lr = 1e-3;               ///< the highest rate, reached after the warm-up
  std::int64_t warmup_steps = 0;  ///< linear: lr (s + 1) / (warmup_steps + 1) at step s. For
                                  ///< one_cycle the length of the rise, 0 = rise * total_steps
  std::int64_t total_steps = 0;   ///< cosine, one_cycle: the whole training, warm-up included
  double min_lr = 0;              ///< cosine, plateau: the lowest rate

  std::int64_t step_every = 1;  ///< step: how often the rate falls, counted from the warm-up's end
  double step_factor = 0.5;     ///< step: what it is multiplied by

  double rise = 0.3;                ///< one_cycle: the part of the training in which it rises
  double div_factor = 25;           ///< one_cycle: begins at lr / div_factor
  double final_div_factor = 10000;  ///< one_cycle: ends at lr / div_factor / final_div_factor

  std::int64_t plateau_patience = 10;  ///< plateau: validations in a row without a better one
                                       ///< until the rate falls
  double plateau_factor = 0.5;         ///< plateau: what it is multiplied by
  double plateau_threshold = 1e-4;     ///< plateau: better is lower by this part of the best
};

/// The learning rate as a function of the step. cosine is that of Loshchilov and Hutter (SGDR, ICLR
/// 2017) without restarts; one_cycle equals PyTorch's OneCycleLR with its cosine phases.
class Schedule {
 public:
  /// Throws UserError naming the setting that is out of range.
  explicit Schedule(const ScheduleConfig& config);

  /// The rate of optimizer step `step`, counted from 0. Steps past the end keep the last rate.
  double lr(std::int64_t step) const;
  /// Tells plateau a validation loss (lower is better; NaN is no improvement). The other kinds
  /// ignore it.
  void observe(double validation);

  const ScheduleConfig& config() const { return config_; }

  void save(Checkpoint& checkpoint, const std::string& prefix = "schedule.") const;
  /// Throws IoError when the checkpoint was written with another kind of schedule.
  void restore(const Checkpoint& checkpoint, const std::string& prefix = "schedule.");

 private:
  double after_warmup(std::int64_t step) const;
  double one_cycle(std::int64_t step) const;

  ScheduleConfig config_;
  double plateau_lr_ = 0;
  double best_ = std::numeric_limits<double>::infinity();
  std::int64_t bad_validations_ = 0;
};

}  // namespace moiety::nn
