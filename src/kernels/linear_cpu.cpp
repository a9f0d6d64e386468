// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu_loops.h"
#include "kernels/lanes.h"
#include "kernels/matmul.h"
#include "kernels/optional_view.h"
#include "kernels/product_tiles.h"
#include "kernels/transpose_cpu.h"
#include "tensor/storage.h"

namespace moiety::kernels::cpu {
namespace {

/// Adds the bias to a tile that was just computed, and clears what is negative.
template <class T, bool kRelu>
void finish_tile(T* out, std::int64_t stride, const T* bias, const Tile& tile) {
  for_column_blocks<T>(tile.column, tile.column + tile.columns, [=](std::int64_t c, auto shift) {
    auto y = shift;
    shift.clear();
    if (bias != nullptr) shift.load(bias + c);
    T* at = out + tile.row * stride + c;
    for (std::int64_t i = 0; i < tile.rows; ++i, at += stride) {
      y.load(at);
      y.add(shift);
      if constexpr (kRelu) y.keep_positive(y);
      y.store(at);
    }
  });
}

/// Rows [begin, end): masked = grad where out > 0 (nullptr: no mask); sum[c] = their column sums.
template <class T>
struct EpilogueBackward {
  const T* grad;
  const T* out;
  T* masked;
  std::int64_t channels;

  void run(std::int64_t begin, std::int64_t end, Compute<T>* sums) const {
    for_column_blocks<T>(0, channels, [&](std::int64_t c, auto sum) {
      auto g = sum, y = sum;
      sum.clear();
      for (std::int64_t n = begin; n < end; ++n) {
        g.load(grad + n * channels + c);
        if (masked != nullptr) {
          y.load(out + n * channels + c);
          g.keep_positive(y);
          g.store(masked + n * channels + c);
        }
        sum.add(g);
      }
      if (sums != nullptr) sum.store(sums + c);
    });
  }
};

/// to [k, n] = a weight [n, k]: oneDNN multiplies by it some 7 % faster, which pays for the copy
/// from some rows on.
template <class T>
void transpose_weight(const Stream& stream, const T* weight, std::int64_t n, std::int64_t k,
                      T* to) {
  constexpr std::int64_t kRows = 64;  // whole lines are written
  const std::int64_t grain = std::max(kRows, row_grain(k) / kRows * kRows);
  parallel_for(stream, n, grain, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; i += kRows) {
      transpose(weight + i * k, k, std::min(kRows, end - i), k, to + i, n);
    }
  });
}

/// Calls body(tile) when a tile is there, for the tiles of x weight^T, in parallel.
template <class T, class Body>
void for_each_product(const Stream& stream, Product<T> p, const Body& body) {
  const auto run = [&](const Product<T>& whole) {
    for_each_tile(stream, p.m, p.n, p.k, [&](const Tile& tile) {
      multiply(restrict_to(whole, tile));
      body(tile);
    });
  };
  constexpr std::int64_t kManyRows = 256;
  if (!std::is_same_v<T, float> || p.m < kManyRows || p.n < kLanes<T>) return run(p);
  const Storage storage(stream.device(), static_cast<std::size_t>(p.n * p.k) * sizeof(T));
  auto* turned = reinterpret_cast<T*>(storage.data());
  transpose_weight(stream, p.b, p.n, p.k, turned);
  p.transpose_b = false;
  p.b = turned;
  p.ldb = p.n;
  run(p);
}

/// The same of halves, with the bias and what is cut off before the result is rounded.
template <class T>
void multiply_with_tail(const Stream& stream, const Product<T>& p, const T* bias, bool relu) {
  for_each_tile(stream, p.m, p.n, p.k, [&](const Tile& tile) {
    HalfProduct half = as_half_product(restrict_to(p, tile));
    if (bias != nullptr) half.bias = bias + tile.column;
    half.relu = relu;
    multiply(stream, half);
  });
}

}  // namespace

void linear(const Stream& stream, const TensorView& x, const TensorView& weight,
            const TensorView& bias, bool relu, const TensorView& out) {
  visit_storage(x.dtype, [&]<class T>() {
    Product<T> p;
    p.transpose_b = true;
    p.m = out.shape[0];
    p.n = out.shape[1];
    p.k = x.shape[1];
    p.a = x.as<T>();
    p.lda = p.k;
    p.b = weight.as<T>();
    p.ldb = p.k;
    p.c = out.as<T>();
    p.ldc = p.n;
    const T* shift = data_or_null<T>(bias);
    if constexpr (kIsHalf<T>) {
      multiply_with_tail(stream, p, shift, relu);
    } else {
      for_each_product(stream, p, [&](const Tile& tile) {
        if (relu) {
          finish_tile<T, true>(p.c, p.ldc, shift, tile);
        } else if (shift != nullptr) {
          finish_tile<T, false>(p.c, p.ldc, shift, tile);
        }
      });
    }
  });
}

void linear_epilogue_backward(const Stream& stream, const TensorView& grad, const TensorView& out,
                              const TensorView& masked, const TensorView& dbias) {
  visit_storage(grad.dtype, [&]<class T>() {
    const std::int64_t rows = grad.shape[0], channels = grad.shape[1];
    const EpilogueBackward<T> backward{grad.as<T>(), data_or_null<T>(out), data_or_null<T>(masked),
                                       channels};
    T* to = data_or_null<T>(dbias);
    // Chunks of rows whose sums are added in order: for tasks, and for the sake of rounding.
    const std::int64_t chunk = std::max<std::int64_t>(row_grain(2 * channels), 256);
    const std::int64_t chunks = (rows + chunk - 1) / chunk;
    if constexpr (!kIsHalf<T>) {
      if (chunks <= 1) return backward.run(0, rows, to);
    }
    const Storage scratch(stream.device(),
                          static_cast<std::size_t>(chunks * channels) * sizeof(Compute<T>));
    auto* partial = reinterpret_cast<Compute<T>*>(scratch.data());
    parallel_for(stream, rows, chunk, [&](std::int64_t begin, std::int64_t end) {
      backward.run(begin, end, partial + begin / chunk * channels);
    });
    if (to == nullptr) return;
    for_column_blocks<T>(0, channels, [&](std::int64_t c, auto sum) {
      auto term = sum;
      sum.clear();
      for (std::int64_t s = 0; s < chunks; ++s) {
        term.load(partial + s * channels + c);
        sum.add(term);
      }
      sum.store(to + c);
    });
  });
}

}  // namespace moiety::kernels::cpu
