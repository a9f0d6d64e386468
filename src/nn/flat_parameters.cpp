// SPDX-License-Identifier: Apache-2.0
#include "nn/flat_parameters.h"

namespace moiety::nn {
namespace {

constexpr std::int64_t kSlotAlignment = 16;  // a cache line of f32

}  // namespace

FlatParameters::FlatParameters(const Module& module) {
  const auto named = module.named_parameters();
  check(!named.empty(), "the module has no parameters");
  std::int64_t size = 0;
  for (const NamedParameter& p : named) {
    check<DTypeError>(p.value.dtype() == named[0].value.dtype(), "parameter ", p.name, " is ",
                      name_of(p.value.dtype()), ", the first one ",
                      name_of(named[0].value.dtype()));
    slots_.push_back({p.name, p.value.shape(), size, size + p.value.numel()});
    size = (slots_.back().end + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
    parameters_.push_back(p.value);
  }
  values_.flat = Tensor::zeros({size}, named[0].value.dtype(), named[0].value.device());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    const Tensor view = values_.flat.slice(0, slot.begin, slot.end).reshape(slot.shape);
    view.copy_from(parameters_[i].data());
    parameters_[i].rebind(view);
    values_.views.push_back(view);
  }
}

FlatBuffer FlatParameters::make_buffer() const {
  FlatBuffer out;
  out.flat = Tensor::zeros({size()}, dtype(), device());
  for (const Slot& slot : slots_) {
    out.views.push_back(out.flat.slice(0, slot.begin, slot.end).reshape(slot.shape));
  }
  return out;
}

}  // namespace moiety::nn
