// SPDX-License-Identifier: Apache-2.0
#include "nn/module.h"

namespace moiety::nn {

std::vector<NamedParameter> Module::named_parameters() const {
  std::vector<NamedParameter> out = parameters_;
  for (const auto& [name, child] : children_) {
    for (NamedParameter& p : child->named_parameters()) {
      out.push_back({name + "." + p.name, std::move(p.value)});
    }
  }
  return out;
}

std::vector<NamedBuffer> Module::named_buffers() const {
  std::vector<NamedBuffer> out = buffers_;
  for (const auto& [name, child] : children_) {
    for (NamedBuffer& b : child->named_buffers()) {
      out.push_back({name + "." + b.name, std::move(b.value)});
    }
  }
  return out;
}

Variables Module::parameters() const {
  Variables out;
  for (NamedParameter& p : named_parameters()) out.push_back(std::move(p.value));
  return out;
}

std::int64_t Module::parameter_count() const {
  std::int64_t count = 0;
  for (const Variable& p : parameters()) count += p.numel();
  return count;
}

Variable Module::add_parameter(std::string name, Tensor initial) {
  parameters_.push_back({std::move(name), Variable(std::move(initial), /*requires_grad=*/true)});
  return parameters_.back().value;
}

Tensor Module::add_buffer(std::string name, Tensor initial) {
  buffers_.push_back({std::move(name), std::move(initial)});
  return buffers_.back().value;
}

}  // namespace moiety::nn
