// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention_tile.h"

namespace moiety::kernels::cpu {
namespace {

/// What the backward pass reads beside the inputs.
template <class T>
struct Saved {
  const T* out;
  const T* lse;
  const T* grad;
};

/// Recomputes a tile's weights and the gradients of its scores.
template <class T>
class GradTile {
 public:
  GradTile(const Stream& stream, const AttentionView<T>& view, const Saved<T>& saved)
      : view_(view),
        saved_(saved),
        weights_(stream, kTileQueries * kTileKeys),
        slopes_(stream, kTileQueries * kTileKeys) {}

  /// weights [queries, keys]: what the values were multiplied with. slopes: gradients of the scaled
  /// and biased scores.
  void fill(const ScoreTile& tile) {
    T* weights = weights_.data();
    T* slopes = slopes_.data();
    const std::int64_t width = view_.head_size();
    view_.fill_scores(tile, weights);
    multiply_tile<T>({.transpose_b = true,
                      .m = tile.queries,
                      .n = tile.keys,
                      .k = width,
                      .a = grad(tile),
                      .lda = step(),
                      .b = view_.v(tile),
                      .ldb = view_.v_stride(),
                      .c = slopes,
                      .ldc = tile.keys});
    for (std::int64_t i = 0; i < tile.queries; ++i) fill_row(tile, i);
  }

  const T* weights() const { return weights_.data(); }
  const T* slopes() const { return slopes_.data(); }
  /// The output's gradient at the tile's first query.
  const T* grad(const ScoreTile& tile) const { return saved_.grad + place(tile); }
  std::int64_t step() const { return view_.heads() * view_.head_size(); }
  /// Where the tile's first query lies in a contiguous [Tq, H, D].
  std::int64_t place(const ScoreTile& tile) const {
    return ((view_.first_query(tile.sequence) + tile.query) * view_.heads() + tile.head) *
           view_.head_size();
  }

 private:
  void fill_row(const ScoreTile& tile, std::int64_t i) {
    const std::int64_t width = view_.head_size();
    T* weights = weights_.data() + i * tile.keys;
    T* slopes = slopes_.data() + i * tile.keys;
    const std::int64_t query = view_.first_query(tile.sequence) + tile.query + i;
    const T lse = saved_.lse[query * view_.heads() + tile.head];
    if (lse == -std::numeric_limits<T>::infinity()) {  // it saw nothing
      std::fill_n(weights, tile.keys, T{0});
      std::fill_n(slopes, tile.keys, T{0});
      return;
    }
    const T* out = saved_.out + place(tile) + i * step();
    const T* grad = saved_.grad + place(tile) + i * step();
    T delta = 0;
    for (std::int64_t c = 0; c < width; ++c) delta += out[c] * grad[c];
    for (std::int64_t j = 0; j < tile.keys; ++j) weights[j] = math::exp(weights[j] - lse);
    if (view_.rule().dropout == 0) {
      for (std::int64_t j = 0; j < tile.keys; ++j) slopes[j] = weights[j] * (slopes[j] - delta);
      return;
    }
    view_.for_mask_runs(tile, i, [=](std::int64_t first, const T* factors, std::int64_t count) {
      for (std::int64_t c = 0; c < count; ++c) {
        const T weight = weights[first + c];
        slopes[first + c] = weight * (slopes[first + c] * factors[c] - delta);
        weights[first + c] = weight * factors[c];
      }
    });
  }

  const AttentionView<T>& view_;
  Saved<T> saved_;
  Scratch<T> weights_;
  Scratch<T> slopes_;
};

/// Calls f(tile) for the tiles of one sequence and head whose keys some query sees.
template <class T, class F>
void for_each_score_tile(const AttentionView<T>& view, std::int64_t b, std::int64_t h, const F& f) {
  for (std::int64_t i = 0; i < view.queries(b); i += view.tile_queries()) {
    ScoreTile tile{b, h, i, std::min(view.tile_queries(), view.queries(b) - i)};
    const std::int64_t keys = view.seen(b, i + tile.queries - 1);
    for (tile.key = 0; tile.key < keys; tile.key += kTileKeys) {
      tile.keys = std::min(kTileKeys, keys - tile.key);
      f(tile);
    }
  }
}

/// Gradients of one sequence and head of keys, whose elements no other task touches.
template <class T>
void add_tile(const AttentionView<T>& view, const GradTile<T>& made, const ScoreTile& tile,
              const TensorView& dq, const TensorView& dk, const TensorView& dv) {
  const std::int64_t width = view.head_size();
  const std::int64_t key_step = dk.strides[0];
  const std::int64_t key_place =
      (view.first_key(tile.sequence) + tile.key) * key_step + tile.head / view.group() * width;
  const T scale = static_cast<T>(view.rule().scale);
  multiply_tile<T>({.m = tile.queries,
                    .n = width,
                    .k = tile.keys,
                    .alpha = scale,
                    .a = made.slopes(),
                    .lda = tile.keys,
                    .b = view.k(tile),
                    .ldb = view.k_stride(),
                    .beta = T{1},
                    .c = dq.as<T>() + made.place(tile),
                    .ldc = made.step()});
  multiply_tile<T>({.transpose_a = true,
                    .m = tile.keys,
                    .n = width,
                    .k = tile.queries,
                    .alpha = scale,
                    .a = made.slopes(),
                    .lda = tile.keys,
                    .b = view.q(tile),
                    .ldb = view.q_stride(),
                    .beta = T{1},
                    .c = dk.as<T>() + key_place,
                    .ldc = key_step});
  multiply_tile<T>({.transpose_a = true,
                    .m = tile.keys,
                    .n = width,
                    .k = tile.queries,
                    .a = made.weights(),
                    .lda = tile.keys,
                    .b = made.grad(tile),
                    .ldb = made.step(),
                    .beta = T{1},
                    .c = dv.as<T>() + key_place,
                    .ldc = key_step});
}

/// Adds a tile's slopes to the bias's gradient, summed along the extents that the bias repeats.
template <class T>
void add_bias_gradient(const ScoreTile& tile, const T* slopes, const TensorView& dbias) {
  const auto step = [&](int d) { return dbias.size(d) == 1 ? 0 : dbias.strides[d]; };
  T* first = dbias.as<T>() + tile.sequence * step(0) + tile.head * step(1) + tile.query * step(2) +
             tile.key * step(3);
  for (std::int64_t i = 0; i < tile.queries; ++i) {
    const T* from = slopes + i * tile.keys;
    T* to = first + i * step(2);
    if (step(3) == 1) {
      for (std::int64_t j = 0; j < tile.keys; ++j) to[j] += from[j];
    } else {
      T sum = 0;
      for (std::int64_t j = 0; j < tile.keys; ++j) sum += from[j];
      *to += sum;
    }
  }
}

/// In a pass of its own: a task has all sequences and heads that share a part of the bias, so that
/// nothing is added by two.
template <class T>
void fill_bias_gradient(const Stream& stream, const AttentionView<T>& view, const Saved<T>& saved,
                        const TensorView& dbias) {
  const std::int64_t slices = dbias.size(1);
  std::fill_n(dbias.as<T>(), dbias.numel(), T{0});
  parallel_for(stream, dbias.size(0) * slices, 1, [&](std::int64_t begin, std::int64_t end) {
    GradTile<T> made(stream, view, saved);
    for (std::int64_t task = begin; task < end; ++task) {
      const bool all_sequences = dbias.size(0) == 1;
      const bool all_heads = slices == 1;
      for (std::int64_t b = 0; b < view.sequences(); ++b) {
        if (!all_sequences && b != task / slices) continue;
        for (std::int64_t h = 0; h < view.heads(); ++h) {
          if (!all_heads && h != task % slices) continue;
          for_each_score_tile(view, b, h, [&](const ScoreTile& tile) {
            made.fill(tile);
            add_bias_gradient(tile, made.slopes(), dbias);
          });
        }
      }
    }
  });
}

}  // namespace

void attention_grad(const Stream& stream, const AttentionRule& rule, const AttentionInputs& in,
                    const TensorView& out, const TensorView& lse, const TensorView& grad,
                    const AttentionGrads& grads) {
  check_bias_reach(in);
  visit_float(in.q.dtype, [&]<class T>() {
    const AttentionView<T> view(rule, in);
    const Saved<T> saved{out.as<T>(), lse.as<T>(), grad.as<T>()};
    for (const TensorView* each : {&grads.q, &grads.k, &grads.v}) {
      std::fill_n(each->as<T>(), each->numel(), T{0});
    }
    const std::int64_t key_heads = in.k.size(1);
    parallel_for(stream, view.sequences() * key_heads, 1,
                 [&](std::int64_t begin, std::int64_t end) {
                   GradTile<T> made(stream, view, saved);
                   for (std::int64_t task = begin; task < end; ++task) {
                     const std::int64_t first = task % key_heads * view.group();
                     for (std::int64_t h = first; h < first + view.group(); ++h) {
                       for_each_score_tile(view, task / key_heads, h, [&](const ScoreTile& tile) {
                         made.fill(tile);
                         add_tile(view, made, tile, grads.q, grads.k, grads.v);
                       });
                     }
                   }
                 });
    if (grads.bias.defined()) fill_bias_gradient(stream, view, saved, grads.bias);
  });
}

}  // namespace moiety::kernels::cpu
