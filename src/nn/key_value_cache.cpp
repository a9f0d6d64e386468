// SPDX-License-Identifier: Apache-2.0
#include "nn/key_value_cache.h"

#include <cmath>

#include "autograd/grad_mode.h"
#include "kernels/cached_attention.h"

namespace moiety::nn {

Variable LayerCache::attend(const Variable& q, const Variable& k, const Variable& v,
                            const Tensor& positions) const {
  check(!autograd::grad_enabled(),
        "a cache of keys and values is for inference: nothing that "
        "reads it has a gradient");
  Device& device = q.device();
  const Tensor out = Tensor::empty(q.shape(), q.dtype(), device);
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(2)));
  kernels::cached_attention(device.stream(),
                            {scale, q.data(), k.data(), v.data(), positions, keys_, values_}, out);
  return Variable(out);
}

KeyValueCache::KeyValueCache(const TransformerConfig& config, std::int64_t rows,
                             std::int64_t length, DType dtype, Device& device)
    : rows_(rows), length_(length) {
  const Shape shape{rows, config.heads_of_keys(), length, config.head_size()};
  for (std::int64_t i = 0; i < config.layers; ++i) {
    layers_.emplace_back(Tensor::empty(shape, dtype, device), Tensor::empty(shape, dtype, device));
  }
}

}  // namespace moiety::nn
