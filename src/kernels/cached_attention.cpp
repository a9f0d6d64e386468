// SPDX-License-Identifier: Apache-2.0
#include "kernels/cached_attention.h"

namespace moiety::kernels {
namespace {

bool has_dense_rows(const TensorView& x) { return x.size(2) <= 1 || x.strides[2] == 1; }

}  // namespace

void cached_attention(const Stream& stream, const CachedAttention& in, const TensorView& out) {
  const auto& [scale, q, k, v, positions, keys, values] = in;
  check<ShapeError>(q.ndim() == 3 && k.ndim() == 3 && k.shape == v.shape &&
                        q.size(0) == k.size(0) && q.size(2) == k.size(2) && k.size(1) > 0 &&
                        q.size(1) % k.size(1) == 0,
                    "cached attention: queries ", q.shape, ", keys ", k.shape, " and values ",
                    v.shape, " do not fit; they are [sequences, heads, head size]");
  check<ShapeError>(keys.ndim() == 4 && keys.shape == values.shape && keys.size(0) == k.size(0) &&
                        keys.size(1) == k.size(1) && keys.size(3) == k.size(2),
                    "cached attention: room for keys ", keys.shape, " and values ", values.shape,
                    ", which does not fit keys ", k.shape);
  check<ShapeError>(positions.shape == Shape({q.size(0)}) && out.shape == q.shape,
                    "cached attention: positions ", positions.shape, " and an output ", out.shape,
                    " for queries ", q.shape);
  MOIETY_CHECK(has_dense_rows(q) && has_dense_rows(k) && has_dense_rows(v) && keys.contiguous() &&
               values.contiguous() && positions.contiguous() && out.contiguous() &&
               positions.dtype == DType::i32 && q.dtype == k.dtype && q.dtype == v.dtype &&
               q.dtype == keys.dtype && q.dtype == values.dtype && q.dtype == out.dtype);
  run_on<cpu::cached_attention, cuda::cached_attention>(stream, in, out);
}

}  // namespace moiety::kernels
