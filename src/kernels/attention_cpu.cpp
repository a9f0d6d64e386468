// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention_tile.h"
#include "kernels/cpu_reduce.h"

namespace moiety::kernels::cpu {
namespace {

/// x = exp(x - top); returns the sum.
template <class T>
T exponentials(T* x, std::int64_t n, T top) {
  constexpr std::int64_t kSums = 16;
  std::array<T, kSums> sums{};
  const std::int64_t whole = n / kSums * kSums;
  for (std::int64_t j = 0; j < whole; j += kSums) {
    for (std::int64_t s = 0; s < kSums; ++s) {
      const T value = math::exp(x[j + s] - top);
      x[j + s] = value;
      sums[static_cast<std::size_t>(s)] += value;
    }
  }
  T total = 0;
  for (const T s : sums) total += s;
  for (std::int64_t j = whole; j < n; ++j) {
    x[j] = math::exp(x[j] - top);
    total += x[j];
  }
  return total;
}

/// What the rows of a tile have seen so far of their softmax.
template <class T>
struct RunningRow {
  T top = -std::numeric_limits<T>::infinity();
  T sum = 0;
};

/// Some queries of a sequence and head, over all of its keys in tiles.
template <class T>
class QueryBlock {
 public:
  QueryBlock(const Stream& stream, const AttentionView<T>& view, T* out, T* lse)
      : view_(view),
        out_(out),
        lse_(lse),
        scores_(stream, kTileQueries * kTileKeys),
        rows_(kTileQueries) {}

  void run(ScoreTile tile) {
    const std::int64_t width = view_.head_size();
    const std::int64_t first = view_.first_query(tile.sequence) + tile.query;
    const std::int64_t step = view_.heads() * width;
    T* out = out_ + first * step + tile.head * width;
    std::fill(rows_.begin(), rows_.end(), RunningRow<T>{});
    for (std::int64_t i = 0; i < tile.queries; ++i) std::fill_n(out + i * step, width, T{0});
    const std::int64_t keys = view_.seen(tile.sequence, tile.query + tile.queries - 1);
    for (tile.key = 0; tile.key < keys; tile.key += kTileKeys) {
      tile.keys = std::min(kTileKeys, keys - tile.key);
      add_keys(tile, out, step);
    }
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      const auto& [top, sum] = rows_[static_cast<std::size_t>(i)];
      const T scale = sum == T{0} ? T{0} : T{1} / sum;  // nothing was seen: 0, not NaN
      for (std::int64_t c = 0; c < width; ++c) out[i * step + c] *= scale;
      lse_[(first + i) * view_.heads() + tile.head] = top + math::log(sum);
    }
  }

 private:
  void drop(const ScoreTile& tile, std::int64_t i, T* row) const {
    view_.for_mask_runs(tile, i, [row](std::int64_t j, const T* factors, std::int64_t count) {
      for (std::int64_t c = 0; c < count; ++c) row[j + c] *= factors[c];
    });
  }

  void add_keys(const ScoreTile& tile, T* out, std::int64_t step) {
    const std::int64_t width = view_.head_size();
    T* scores = scores_.data();
    view_.fill_scores(tile, scores);
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      T* row = scores + i * tile.keys;
      auto& [top, sum] = rows_[static_cast<std::size_t>(i)];
      const T before = top;
      top = std::max(top, row_max(row, tile.keys));
      if (top == -std::numeric_limits<T>::infinity()) {  // nothing seen yet
        std::fill_n(row, tile.keys, T{0});
        continue;
      }
      const T shrink = math::exp(before - top);
      sum = sum * shrink + exponentials(row, tile.keys, top);
      if (tile.key > 0 && shrink != T{1}) {
        for (std::int64_t c = 0; c < width; ++c) out[i * step + c] *= shrink;
      }
      if (view_.rule().dropout > 0) drop(tile, i, row);
    }
    multiply_tile<T>({.m = tile.queries,
                      .n = width,
                      .k = tile.keys,
                      .a = scores,
                      .lda = tile.keys,
                      .b = view_.v(tile),
                      .ldb = view_.v_stride(),
                      .beta = T{1},
                      .c = out,
                      .ldc = step});
  }

  const AttentionView<T>& view_;
  T* out_;
  T* lse_;
  Scratch<T> scores_;
  std::vector<RunningRow<T>> rows_;
};

}  // namespace

void check_bias_reach(const AttentionInputs& in) {
  if (!in.bias.defined()) return;
  const auto check_lengths = [&](const TensorView& ptr, std::int64_t longest) {
    const auto* p = ptr.as<std::int32_t>();
    for (std::int64_t b = 0; longest > 1 && b + 1 < ptr.numel(); ++b) {
      check<ShapeError>(p[b + 1] - p[b] <= longest, "attention: sequence ", b, " has ",
                        p[b + 1] - p[b], " tokens, the bias only ", longest);
    }
  };
  check_lengths(in.query_ptr, in.bias.size(2));
  check_lengths(in.key_ptr, in.bias.size(3));
}

void attention(const Stream& stream, const AttentionRule& rule, const AttentionInputs& in,
               const TensorView& out, const TensorView& lse) {
  check_bias_reach(in);
  visit_float(in.q.dtype, [&]<class T>() {
    const AttentionView<T> view(rule, in);
    std::vector<ScoreTile> tiles;
    for (std::int64_t b = 0; b < view.sequences(); ++b) {
      for (std::int64_t h = 0; h < view.heads(); ++h) {
        for (std::int64_t i = 0; i < view.queries(b); i += view.tile_queries()) {
          tiles.push_back({b, h, i, std::min(view.tile_queries(), view.queries(b) - i)});
        }
      }
    }
    const std::int64_t pairs =
        in.q.size(0) * in.k.size(0) / std::max<std::int64_t>(1, view.sequences());
    const std::int64_t work = 4 * pairs * view.heads() * view.head_size();
    const auto count = static_cast<std::int64_t>(tiles.size());
    const std::int64_t grain = std::max<std::int64_t>(
        1, count * 500'000 / std::max<std::int64_t>(1, work));  // half a million FLOP or more
    parallel_for(stream, count, grain, [&](std::int64_t begin, std::int64_t end) {
      QueryBlock<T> block(stream, view, out.as<T>(), lse.as<T>());
      for (std::int64_t t = begin; t < end; ++t) block.run(tiles[static_cast<std::size_t>(t)]);
    });
  });
}

}  // namespace moiety::kernels::cpu
