// SPDX-License-Identifier: Apache-2.0
#include "nn/schedule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace moiety::nn {
namespace {

constexpr std::array kKinds = {ScheduleKind::constant, ScheduleKind::step, ScheduleKind::cosine,
                               ScheduleKind::one_cycle, ScheduleKind::plateau};

/// From `start` at part 0 to `end` at part 1 along half a cosine.
double cosine_between(double start, double end, double part) {
  return end + (start - end) / 2 * (1 + std::cos(std::numbers::pi * part));
}

void check_positive(double value, const char* name) {
  check<UserError>(std::isfinite(value) && value > 0, "schedule: ", name, " must be above 0, not ",
                   value);
}

void check_factor(double value, const char* name) {
  check<UserError>(value > 0 && value <= 1, "schedule: ", name, " must be in (0, 1], not ", value);
}

void check_length(const ScheduleConfig& c) {
  check<UserError>(c.total_steps > 0, "schedule: ", name_of(c.kind),
                   " needs total_steps, the length of the training; it is ", c.total_steps);
  check<UserError>(c.warmup_steps < c.total_steps, "schedule: a warm-up of ", c.warmup_steps,
                   " steps does not fit into a training of ", c.total_steps,
                   "; shorten it or train longer");
}

void check_floor(const ScheduleConfig& c) {
  check<UserError>(c.min_lr >= 0 && c.min_lr <= c.lr, "schedule: min_lr must be from 0 to lr (",
                   c.lr, "), not ", c.min_lr);
}

void check_config(const ScheduleConfig& c) {
  check_positive(c.lr, "lr");
  check<UserError>(c.warmup_steps >= 0, "schedule: warmup_steps must not be negative, but is ",
                   c.warmup_steps);
  switch (c.kind) {
    case ScheduleKind::constant:
      break;
    case ScheduleKind::step:
      check<UserError>(c.step_every > 0, "schedule: step_every must be at least 1, not ",
                       c.step_every);
      check_factor(c.step_factor, "step_factor");
      break;
    case ScheduleKind::cosine:
      check_length(c);
      check_floor(c);
      break;
    case ScheduleKind::one_cycle:
      check_length(c);
      check<UserError>(c.rise > 0 && c.rise < 1, "schedule: rise must be between 0 and 1, not ",
                       c.rise);
      check_positive(c.div_factor, "div_factor");
      check_positive(c.final_div_factor, "final_div_factor");
      break;
    case ScheduleKind::plateau:
      check_floor(c);
      check<UserError>(c.plateau_patience > 0,
                       "schedule: plateau_patience must be at least 1, not ", c.plateau_patience);
      check_factor(c.plateau_factor, "plateau_factor");
      check<UserError>(c.plateau_threshold >= 0 && c.plateau_threshold < 1,
                       "schedule: plateau_threshold must be in [0, 1), not ", c.plateau_threshold);
      break;
  }
}

}  // namespace

std::string name_of(ScheduleKind kind) {
  switch (kind) {
    case ScheduleKind::constant:
      return "constant";
    case ScheduleKind::step:
      return "step";
    case ScheduleKind::cosine:
      return "cosine";
    case ScheduleKind::one_cycle:
      return "one_cycle";
    case ScheduleKind::plateau:
      return "plateau";
  }
  return "unknown";
}

ScheduleKind schedule_kind(const std::string& name) {
  for (const ScheduleKind kind : kKinds) {
    if (name_of(kind) == name) return kind;
  }
  throw UserError(concat("there is no schedule \"", name,
                         "\"; choose constant, step, cosine, one_cycle or plateau"));
}

Schedule::Schedule(const ScheduleConfig& config) : config_(config), plateau_lr_(config.lr) {
  check_config(config_);
}

double Schedule::lr(std::int64_t step) const {
  check(step >= 0, "schedule: step ", step, " is negative");
  if (config_.kind == ScheduleKind::one_cycle) return one_cycle(step);
  if (step < config_.warmup_steps) {
    return config_.lr * static_cast<double>(step + 1) /
           static_cast<double>(config_.warmup_steps + 1);
  }
  return after_warmup(step - config_.warmup_steps);
}

double Schedule::after_warmup(std::int64_t step) const {
  switch (config_.kind) {
    case ScheduleKind::step: {
      const std::int64_t falls = step / config_.step_every;
      return config_.lr * std::pow(config_.step_factor, static_cast<double>(falls));
    }
    case ScheduleKind::cosine: {
      const std::int64_t length = config_.total_steps - config_.warmup_steps;
      const double part = static_cast<double>(step) / static_cast<double>(length);
      return cosine_between(config_.lr, config_.min_lr, std::min(part, 1.0));
    }
    case ScheduleKind::plateau:
      return plateau_lr_;
    default:
      return config_.lr;
  }
}

double Schedule::one_cycle(std::int64_t step) const {
  const double total = static_cast<double>(config_.total_steps);
  const double at = std::min(static_cast<double>(step), total - 1);
  const double rise =
      config_.warmup_steps > 0 ? static_cast<double>(config_.warmup_steps) : config_.rise * total;
  const double peak = rise - 1;  // both phases end on a step, counted from 0: PyTorch's convention
  const double first = config_.lr / config_.div_factor;
  if (at <= peak) return cosine_between(first, config_.lr, peak > 0 ? at / peak : 1.0);
  return cosine_between(config_.lr, first / config_.final_div_factor,
                        (at - peak) / (total - 1 - peak));
}

void Schedule::observe(double validation) {
  if (config_.kind != ScheduleKind::plateau) return;
  const double margin = std::isfinite(best_) ? config_.plateau_threshold * std::abs(best_) : 0.0;
  if (validation < best_ - margin) {
    best_ = validation;
    bad_validations_ = 0;
  } else if (++bad_validations_ >= config_.plateau_patience) {
    plateau_lr_ = std::max(plateau_lr_ * config_.plateau_factor, config_.min_lr);
    bad_validations_ = 0;
  }
}

void Schedule::save(Checkpoint& checkpoint, const std::string& prefix) const {
  checkpoint.set_string(prefix + "kind", name_of(config_.kind));
  checkpoint.set_f64(prefix + "plateau_lr", plateau_lr_);
  checkpoint.set_f64(prefix + "best", best_);
  checkpoint.set_i64(prefix + "bad_validations", bad_validations_);
}

void Schedule::restore(const Checkpoint& checkpoint, const std::string& prefix) {
  const std::string& kind = checkpoint.get_string(prefix + "kind");
  check<IoError>(kind == name_of(config_.kind), checkpoint.source(), ": written with a ", kind,
                 " schedule, but this one is ", name_of(config_.kind),
                 "; continue with the same one");
  const double plateau_lr = checkpoint.get_f64(prefix + "plateau_lr");
  const double best = checkpoint.get_f64(prefix + "best");
  bad_validations_ = checkpoint.get_i64(prefix + "bad_validations");
  plateau_lr_ = plateau_lr;
  best_ = best;
}

}  // namespace moiety::nn
