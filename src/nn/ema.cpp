// SPDX-License-Identifier: Apache-2.0
#include "nn/ema.h"

#include <algorithm>

#include "kernels/optimizer.h"

namespace moiety::nn {

Ema::Ema(const FlatParameters& parameters, double decay, bool warmup)
    : parameters_(parameters), decay_(decay), warmup_(warmup), average_(parameters.make_buffer()) {
  check<UserError>(decay >= 0 && decay < 1, "ema: the decay must be in [0, 1), not ", decay);
  average_.flat.copy_from(parameters.values());
}

void Ema::update() {
  kernels::lerp(parameters_.device().stream(), parameters_.values(), next_weight(), average_.flat);
}

double Ema::next_weight() {
  const auto t = static_cast<double>(updates_++);
  return 1 - (warmup_ ? std::min(decay_, (1 + t) / (10 + t)) : decay_);
}

void Ema::enqueue(const TensorView& weight) {
  kernels::lerp_by(parameters_.device().stream(), parameters_.values(), weight, average_.flat);
}

Ema::Swapped::Swapped(const Ema& ema) : ema_(ema), trained_(ema.parameters_.values().clone()) {
  ema_.parameters_.values().copy_from(ema_.average_.flat);
}

Ema::Swapped::~Swapped() {
  try {
    ema_.parameters_.values().copy_from(trained_);
  } catch (const Error&) {  // the device is lost, and another exception says so
  }
}

std::vector<NamedTensor> Ema::named_averages() const {
  std::vector<NamedTensor> out;
  for (std::size_t i = 0; i < average_.views.size(); ++i) {
    out.push_back({parameters_.slots()[i].name, average_.views[i]});
  }
  return out;
}

void Ema::save(Checkpoint& checkpoint, const std::string& prefix) const {
  save_tensors(checkpoint, prefix, named_averages());
  checkpoint.set_i64(prefix + "updates", updates_);
}

void Ema::restore(const Checkpoint& checkpoint, const std::string& prefix) {
  const std::int64_t updates = checkpoint.get_i64(prefix + "updates");
  restore_tensors(checkpoint, prefix, named_averages());
  updates_ = updates;
}

}  // namespace moiety::nn
