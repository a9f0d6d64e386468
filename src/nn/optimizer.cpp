// SPDX-License-Identifier: Apache-2.0
#include "nn/optimizer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/elementwise.h"

namespace moiety::nn {
namespace {

constexpr std::array kKinds = {OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw};

void check_fraction(double value, const char* name) {
  check<UserError>(value >= 0 && value < 1, "optimizer: ", name, " must be in [0, 1), not ", value);
}

void check_not_negative(double value, const char* name) {
  check<UserError>(std::isfinite(value) && value >= 0, "optimizer: ", name,
                   " must not be negative, but is ", value);
}

void check_config(const OptimizerConfig& c) {
  check_not_negative(c.weight_decay, "weight_decay");
  check_not_negative(c.clip_norm, "clip_norm");
  check_not_negative(static_cast<double>(c.max_skipped), "max_skipped");
  check_not_negative(c.loss_scale, "loss_scale");
  check<UserError>(
      c.loss_scale == 0 || std::exp2(std::round(std::log2(c.loss_scale))) == c.loss_scale,
      "optimizer: loss_scale must be a power of two, not ", c.loss_scale);
  check<UserError>(c.loss_scale_interval > 0,
                   "optimizer: loss_scale_interval must be at least 1, not ",
                   c.loss_scale_interval);
  if (c.kind == OptimizerKind::sgd) {
    check_fraction(c.momentum, "momentum");
    check<UserError>(!c.nesterov || c.momentum > 0, "optimizer: nesterov needs a momentum");
  } else {
    check_fraction(c.beta1, "beta1");
    check_fraction(c.beta2, "beta2");
    check<UserError>(std::isfinite(c.eps) && c.eps > 0, "optimizer: eps must be above 0, not ",
                     c.eps);
  }
}

bool decays_by_default(const FlatParameters::Slot& slot, const OptimizerConfig& config) {
  if (slot.shape.ndim() < 2 && !config.decay_vectors) return false;
  return std::none_of(config.no_decay.begin(), config.no_decay.end(), [&](const std::string& part) {
    return slot.name.find(part) != std::string::npos;
  });
}

/// The largest squared norm of which every element's square is finite.
double largest_square(DType dtype) {
  return dtype == DType::f64 ? std::numeric_limits<double>::max()
                             : static_cast<double>(std::numeric_limits<float>::max());
}

}  // namespace

std::string name_of(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::sgd:
      return "sgd";
    case OptimizerKind::adam:
      return "adam";
    case OptimizerKind::adamw:
      return "adamw";
  }
  return "unknown";
}

OptimizerKind optimizer_kind(const std::string& name) {
  for (const OptimizerKind kind : kKinds) {
    if (name_of(kind) == name) return kind;
  }
  throw UserError(concat("there is no optimizer \"", name, "\"; choose sgd, adam or adamw"));
}

Optimizer::Optimizer(const FlatParameters& parameters, const OptimizerConfig& config)
    : parameters_(parameters),
      config_(config),
      decision_(Tensor::zeros({kernels::kDecisionSize}, DType::f64, parameters.device())),
      lr_(Tensor::zeros({1}, DType::f64, parameters.device())) {
  check_config(config_);
  kernels::StepDecision start{};
  start.loss_scale = config_.loss_scale;
  write_decision(start);
  bool joins_last = false;  // the padding between two ranges is zero: they become one
  for (const FlatParameters::Slot& slot : parameters.slots()) {
    const bool decays = decays_by_default(slot, config_);
    decays_.push_back(decays);
    if (decays && joins_last) decay_ranges_.back().end = slot.end;
    if (decays && !joins_last)
      decay_ranges_.push_back({slot.begin, slot.end, config_.weight_decay});
    joins_last = decays;
  }
  if (config_.kind != OptimizerKind::sgd) {
    moments_.push_back({"first_moment", parameters.make_buffer()});
    moments_.push_back({"second_moment", parameters.make_buffer()});
  } else if (config_.momentum > 0) {
    moments_.push_back({"velocity", parameters.make_buffer()});
  }
}

StepReport Optimizer::step(const FlatBuffer& gradients, double lr) {
  check(std::isfinite(lr) && lr >= 0, "optimizer: the learning rate is ", lr);
  kernels::fill(parameters_.device().stream(), lr_, lr);
  enqueue(gradients, lr_);
  const StepReport done = report(read_decision());
  check_skipped(done);
  return done;
}

void Optimizer::enqueue(const FlatBuffer& gradients, const TensorView& lr) {
  const Stream& stream = parameters_.device().stream();
  const bool sgd = config_.kind == OptimizerKind::sgd;
  kernels::squared_norm_into(stream, gradients.flat, decision_.slice(0, 0, 1));
  kernels::begin_step(
      stream,
      {.clip_norm = config_.clip_norm,
       .largest_square = largest_square(parameters_.dtype()),
       .beta1 = sgd ? 0 : config_.beta1,
       .beta2 = sgd ? 0 : config_.beta2,
       .loss_scale_interval = scales_loss() ? static_cast<double>(config_.loss_scale_interval) : 0},
      lr, decision_);
  if (sgd) {
    kernels::sgd(
        stream, {.momentum = config_.momentum, .nesterov = config_.nesterov, .decision = decision_},
        decay_ranges_, gradients.flat, parameters_.values(),
        moments_.empty() ? TensorView() : moments_[0].buffer.flat.view());
  } else {
    kernels::adam(stream,
                  {.beta1 = config_.beta1,
                   .beta2 = config_.beta2,
                   .eps = config_.eps,
                   .decoupled_decay = config_.kind == OptimizerKind::adamw,
                   .decision = decision_},
                  decay_ranges_, gradients.flat, parameters_.values(), moments_[0].buffer.flat,
                  moments_[1].buffer.flat);
  }
}

Tensor Optimizer::loss_seed(const Tensor& scale) const {
  if (!scales_loss()) return scale;
  Tensor out = Tensor::empty(scale.shape(), scale.dtype(), scale.device());
  kernels::loss_seed(parameters_.device().stream(), scale, decision_, out);
  return out;
}

StepReport Optimizer::report(const kernels::StepDecision& decision) {
  return {std::sqrt(decision.squared_norm), decision.usable == 0,
          static_cast<std::int64_t>(decision.skipped_in_a_row),
          decision.loss_scale > 0 ? decision.loss_scale : 1};
}

void Optimizer::check_skipped(const StepReport& report) const {
  check(report.skipped_in_a_row <= config_.max_skipped,
        "the gradient was too large or not finite in ", report.skipped_in_a_row,
        " steps in a row (its norm is ", report.gradient_norm,
        "); lower the learning rate, clip the gradient or look for bad rows in the data");
}

kernels::StepDecision Optimizer::read_decision() const {
  std::array<double, kernels::kDecisionSize> numbers{};
  std::ranges::copy(decision_.to_vector<double>(), numbers.begin());
  return std::bit_cast<kernels::StepDecision>(numbers);
}

void Optimizer::write_decision(const kernels::StepDecision& decision) {
  const auto numbers = std::bit_cast<std::array<double, kernels::kDecisionSize>>(decision);
  decision_.copy_from(Tensor::from(std::vector<double>(numbers.begin(), numbers.end()),
                                   {kernels::kDecisionSize}, parameters_.device()));
}

std::int64_t Optimizer::steps() const { return static_cast<std::int64_t>(read_decision().steps); }

std::int64_t Optimizer::skipped() const {
  return static_cast<std::int64_t>(read_decision().skipped);
}

std::vector<NamedTensor> Optimizer::named_moments() const {
  std::vector<NamedTensor> out;
  for (const Moment& moment : moments_) {
    for (std::size_t i = 0; i < moment.buffer.views.size(); ++i) {
      out.push_back({moment.name + "." + parameters_.slots()[i].name, moment.buffer.views[i]});
    }
  }
  return out;
}

void Optimizer::save(Checkpoint& checkpoint, const std::string& prefix) const {
  checkpoint.set_string(prefix + "kind", name_of(config_.kind));
  const kernels::StepDecision last = read_decision();
  checkpoint.set_i64(prefix + "steps", static_cast<std::int64_t>(last.steps));
  checkpoint.set_i64(prefix + "skipped", static_cast<std::int64_t>(last.skipped));
  checkpoint.set_i64(prefix + "skipped_in_a_row", static_cast<std::int64_t>(last.skipped_in_a_row));
  if (scales_loss()) {
    checkpoint.set_f64(prefix + "loss_scale", last.loss_scale);
    checkpoint.set_i64(prefix + "good_steps", static_cast<std::int64_t>(last.good_steps));
  }
  save_tensors(checkpoint, prefix, named_moments());
}

void Optimizer::restore(const Checkpoint& checkpoint, const std::string& prefix) {
  const std::string& kind = checkpoint.get_string(prefix + "kind");
  check<IoError>(kind == name_of(config_.kind), checkpoint.source(), ": written with ", kind,
                 ", but this optimizer is ", name_of(config_.kind), "; continue with the same one");
  kernels::StepDecision last{};
  last.steps = static_cast<double>(checkpoint.get_i64(prefix + "steps"));
  last.skipped = static_cast<double>(checkpoint.get_i64(prefix + "skipped"));
  last.skipped_in_a_row = static_cast<double>(checkpoint.get_i64(prefix + "skipped_in_a_row"));
  last.loss_scale = config_.loss_scale;
  // A training may go on in f16 that began in another precision.
  if (scales_loss() && checkpoint.has(prefix + "loss_scale")) {
    last.loss_scale = checkpoint.get_f64(prefix + "loss_scale");
    last.good_steps = static_cast<double>(checkpoint.get_i64(prefix + "good_steps"));
  }
  restore_tensors(checkpoint, prefix, named_moments());
  write_decision(last);
}

}  // namespace moiety::nn
