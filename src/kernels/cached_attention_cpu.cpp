// SPDX-License-Identifier: Apache-2.0
#include "kernels/cached_attention.h"
#include "kernels/cpu_math.h"
#include "kernels/cpu_reduce.h"

namespace moiety::kernels::cpu {
namespace {

/// One sequence and head of keys, with the heads of queries that share it.
template <class T>
struct CachedHead {
  const CachedAttention& in;
  std::int64_t row;
  std::int64_t head;    ///< of keys
  std::int64_t tokens;  ///< that are seen, the newest one among them
  T* keys;              ///< [L, D]
  T* values;            ///< [L, D]

  CachedHead(const CachedAttention& problem, std::int64_t n) : in(problem) {
    row = n / in.k.size(1);
    head = n % in.k.size(1);
    tokens = in.positions.as<std::int32_t>()[row] + 1;
    const std::int64_t room = in.keys.size(2) * width();
    keys = in.keys.as<T>() + n * room;
    values = in.values.as<T>() + n * room;
  }

  std::int64_t width() const { return in.q.size(2); }
  const T* newest(const TensorView& x, std::int64_t h) const {
    return x.as<T>() + row * x.strides[0] + h * x.strides[1];
  }

  void append() const {
    std::copy_n(newest(in.k, head), width(), keys + (tokens - 1) * width());
    std::copy_n(newest(in.v, head), width(), values + (tokens - 1) * width());
  }

  /// One head of queries; `weights` has room for all tokens.
  void attend(std::int64_t query_head, T* weights, T* out) const {
    const T* q = newest(in.q, query_head);
    for (std::int64_t j = 0; j < tokens; ++j) {
      weights[j] = static_cast<T>(in.scale) * dot(q, keys + j * width(), width());
    }
    const T top = row_max(weights, tokens);
    for (std::int64_t j = 0; j < tokens; ++j) weights[j] = math::exp(weights[j] - top);
    const T share = static_cast<T>(1.0 / sum_row(weights, tokens));
    for_column_blocks<T>(0, width(), [&](std::int64_t c, auto sum) {
      auto value = sum;
      sum.clear();
      for (std::int64_t j = 0; j < tokens; ++j) {
        value.load(values + j * width() + c);
        sum.add_scaled(weights[j], value);
      }
      sum.scale(share);
      sum.store(out + c);
    });
  }
};

}  // namespace

void cached_attention(const Stream& stream, const CachedAttention& in, const TensorView& out) {
  const std::int64_t groups = in.k.size(1);
  const std::int64_t group = in.q.size(1) / groups;
  const std::int64_t width = in.q.size(2);
  const std::int64_t room = in.keys.size(2);
  visit_float(in.q.dtype, [&]<class T>() {
    const auto* positions = in.positions.as<std::int32_t>();
    std::int64_t tokens = 0;
    for (std::int64_t r = 0; r < in.q.size(0); ++r) tokens += positions[r] + 1;
    const std::int64_t mean = tokens / std::max<std::int64_t>(1, in.q.size(0)) + 1;
    parallel_for(stream, in.q.size(0) * groups, row_grain(2 * mean * group * width),
                 [&](std::int64_t begin, std::int64_t end) {
                   const Storage memory(stream.device(),
                                        static_cast<std::size_t>(room) * sizeof(T));
                   for (std::int64_t n = begin; n < end; ++n) {
                     const CachedHead<T> one(in, n);
                     one.append();
                     for (std::int64_t h = one.head * group; h < (one.head + 1) * group; ++h) {
                       one.attend(h, reinterpret_cast<T*>(memory.data()),
                                  out.as<T>() + (one.row * in.q.size(1) + h) * width);
                     }
                   }
                 });
  });
}

}  // namespace moiety::kernels::cpu
