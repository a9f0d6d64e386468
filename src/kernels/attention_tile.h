// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/attention.h"
#include "kernels/cpu_math.h"
#include "kernels/cpu_philox.h"
#include "kernels/product.h"
#include "tensor/storage.h"

// What the forward and the backward pass of attention share on the CPU: tiles of scores.
namespace moiety::kernels::cpu {

inline constexpr std::int64_t kTileQueries = 128;  // at most
inline constexpr std::int64_t kTileKeys = 512;

/// Queries [query, query + queries) and keys [key, key + keys) of one sequence and head, numbered
/// within the sequence.
struct ScoreTile {
  std::int64_t sequence = 0;
  std::int64_t head = 0;
  std::int64_t query = 0;
  std::int64_t queries = 0;
  std::int64_t key = 0;
  std::int64_t keys = 0;
};

/// Small products do not repay what oneDNN does before it begins.
template <class T>
void multiply_tile(const Product<T>& product) {
  constexpr std::int64_t kLarge = 1 << 18;
  if (product.m * product.n * product.k < kLarge) return multiply_portable(product);
  multiply(product);
}

/// Elements of memory of its own for a task.
template <class T>
class Scratch {
 public:
  Scratch(const Stream& stream, std::int64_t count)
      : storage_(stream.device(), static_cast<std::size_t>(count) * sizeof(T)) {}
  T* data() const { return reinterpret_cast<T*>(storage_.data()); }

 private:
  Storage storage_;
};

/// The operands of one attention, by sequence and head.
template <class T>
class AttentionView {
 public:
  AttentionView(const AttentionRule& rule, const AttentionInputs& in)
      : rule_(rule),
        key_(rule.key.place() != nullptr ? *rule.key.place() : rule.key.given),
        in_(in),
        query_ptr_(in.query_ptr.as<std::int32_t>()),
        key_ptr_(in.key_ptr.as<std::int32_t>()),
        group_(in.q.size(1) / in.k.size(1)) {}

  std::int64_t sequences() const { return in_.query_ptr.numel() - 1; }
  std::int64_t heads() const { return in_.q.size(1); }
  std::int64_t head_size() const { return in_.q.size(2); }
  /// Heads of queries for each head of keys.
  std::int64_t group() const { return group_; }
  std::int64_t queries(std::int64_t b) const { return query_ptr_[b + 1] - query_ptr_[b]; }
  std::int64_t keys(std::int64_t b) const { return key_ptr_[b + 1] - key_ptr_[b]; }
  std::int64_t first_query(std::int64_t b) const { return query_ptr_[b]; }
  std::int64_t first_key(std::int64_t b) const { return key_ptr_[b]; }
  const AttentionRule& rule() const { return rule_; }
  /// Queries of a tile: fewer where they see few keys, as all of a tile's keys are computed.
  std::int64_t tile_queries() const { return rule_.causal ? kTileQueries / 2 : kTileQueries; }

  /// Keys that query i of sequence b may see: the first so many.
  std::int64_t seen(std::int64_t b, std::int64_t i) const {
    if (!rule_.causal) return keys(b);
    return std::clamp<std::int64_t>(i + 1 + keys(b) - queries(b), 0, keys(b));
  }

  const T* q(const ScoreTile& t) const {
    return row(in_.q, query_ptr_[t.sequence] + t.query, t.head);
  }
  const T* k(const ScoreTile& t) const {
    return row(in_.k, key_ptr_[t.sequence] + t.key, t.head / group_);
  }
  const T* v(const ScoreTile& t) const {
    return row(in_.v, key_ptr_[t.sequence] + t.key, t.head / group_);
  }
  std::int64_t q_stride() const { return in_.q.strides[0]; }
  std::int64_t k_stride() const { return in_.k.strides[0]; }
  std::int64_t v_stride() const { return in_.v.strides[0]; }

  /// scores [queries, keys] = scale q k^T + bias, minus infinity for keys that are not seen.
  void fill_scores(const ScoreTile& t, T* scores) const {
    multiply_tile<T>({.transpose_b = true,
                      .m = t.queries,
                      .n = t.keys,
                      .k = head_size(),
                      .alpha = static_cast<T>(rule_.scale),
                      .a = q(t),
                      .lda = q_stride(),
                      .b = k(t),
                      .ldb = k_stride(),
                      .c = scores,
                      .ldc = t.keys});
    if (in_.bias.defined()) add_bias(t, scores);
    if (!rule_.causal) return;
    for (std::int64_t i = 0; i < t.queries; ++i) {
      const std::int64_t visible = seen(t.sequence, t.query + i) - t.key;
      const std::int64_t begin = std::clamp<std::int64_t>(visible, 0, t.keys);
      std::fill(scores + i * t.keys + begin, scores + (i + 1) * t.keys,
                -std::numeric_limits<T>::infinity());
    }
  }

  /// Calls body(j, factors, count) for runs of the mask of row i of a tile: what the weights of
  /// keys j, j + 1, ... of the tile are multiplied with, 0 or 1 / (1 - dropout).
  template <class Body>
  void for_mask_runs(const ScoreTile& t, std::int64_t i, const Body& body) const {
    const auto threshold = static_cast<std::int32_t>(std::ceil(rule_.dropout * 0x1p24));
    const T scale = static_cast<T>(1.0 / (1.0 - rule_.dropout));
    const auto query = static_cast<std::uint64_t>(query_ptr_[t.sequence] + t.query + i);
    const auto heads_before = (rule_.first + query) * static_cast<std::uint64_t>(heads()) +
                              static_cast<std::uint64_t>(t.head);
    const auto base = heads_before * static_cast<std::uint64_t>(rule_.row_stride);
    for_random_runs(key_, base, t.key, t.key + t.keys,
                    [&](std::int64_t j, const std::uint32_t* words, std::int64_t count) {
                      std::array<T, RandomBlock::kWords> factors;
                      for (std::int64_t c = 0; c < count; ++c) {
                        const bool drops = static_cast<std::int32_t>(words[c] >> 8) < threshold;
                        factors[static_cast<std::size_t>(c)] = drops ? T{0} : scale;
                      }
                      body(j - t.key, factors.data(), count);
                    });
  }

 private:
  static const T* row(const TensorView& x, std::int64_t token, std::int64_t head) {
    return x.as<T>() + token * x.strides[0] + head * x.strides[1];
  }

  void add_bias(const ScoreTile& t, T* scores) const {
    const TensorView& bias = in_.bias;
    const auto step = [&](int d) { return bias.size(d) == 1 ? 0 : bias.strides[d]; };
    const T* first = bias.as<T>() + t.sequence * step(0) + t.head * step(1) + t.query * step(2) +
                     t.key * step(3);
    for (std::int64_t i = 0; i < t.queries; ++i) {
      const T* from = first + i * step(2);
      T* to = scores + i * t.keys;
      if (step(3) == 1) {
        for (std::int64_t j = 0; j < t.keys; ++j) to[j] += from[j];
      } else {
        for (std::int64_t j = 0; j < t.keys; ++j) to[j] += from[j * step(3)];
      }
    }
  }

  AttentionRule rule_;
  RngKey key_;
  AttentionInputs in_;
  const std::int32_t* query_ptr_;
  const std::int32_t* key_ptr_;
  std::int64_t group_;
};

/// Throws ShapeError for a bias that is shorter than a sequence.
void check_bias_reach(const AttentionInputs& in);

}  // namespace moiety::kernels::cpu
