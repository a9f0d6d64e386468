// SPDX-License-Identifier: Apache-2.0
#include "autograd/ops/random.h"

#include "autograd/node.h"
#include "autograd/ops/contiguous.h"
#include "kernels/random.h"

namespace moiety::ops {

namespace {

kernels::KeySource source_of(RngKey key) { return key; }
kernels::KeySource source_of(const Tensor& key) { return key.view(); }

template <class Key>
Variable drop(const Variable& x, double p, const Key& key, std::uint64_t first) {
  check(0.0 <= p && p < 1.0, "dropout: the probability must be in [0, 1), not ", p);
  if (p == 0.0) return x;
  Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());
  kernels::dropout(x.device().stream(), source_of(key), first, p, contiguous(x.data()), out);
  return autograd::record("dropout", {x}, out, {},
                          [p, key, first](const autograd::RuleContext& c) -> Variables {
                            return {dropout(c.grad(), p, key, first)};
                          });
}

}  // namespace

Variable dropout(const Variable& x, double p, RngKey key, std::uint64_t first) {
  return drop(x, p, key, first);
}

Variable dropout(const Variable& x, double p, const Tensor& key, std::uint64_t first) {
  check_same_device({&x.data(), &key});
  return drop(x, p, key, first);
}

}  // namespace moiety::ops
