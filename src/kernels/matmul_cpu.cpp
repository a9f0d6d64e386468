// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu_loops.h"
#include "kernels/matmul.h"
#include "kernels/product_tiles.h"
#include "tensor/storage.h"

namespace moiety::kernels::cpu {
namespace {

/// sum += factor * row.
template <class T>
void add_row(const T* row, Compute<T> factor, std::int64_t n, Compute<T>* sum) {
  for (std::int64_t j = 0; j < n; ++j) sum[j] += factor * widened(row[j]);
}

template <class T>
void store_row(const Compute<T>* from, std::int64_t n, T* to) {
  if constexpr (kIsHalf<T>) {
    narrow(from, n, kDTypeOf<T>, to);
  } else {
    std::copy_n(from, n, to);
  }
}

/// A product with a long k and a small result (the gradient of a weight): chunks of k in parallel,
/// then their sum in order.
template <class T, class Out>
void multiply_by_chunks(const Stream& stream, const Product<T, Out>& p, std::int64_t chunk) {
  const std::int64_t chunks = (p.k + chunk - 1) / chunk;
  const std::int64_t size = p.m * p.n;
  using C = Compute<T>;
  const Storage scratch(stream.device(), static_cast<std::size_t>(chunks * size) * sizeof(C));
  auto* partial = reinterpret_cast<C*>(scratch.data());
  parallel_for(stream, p.k, chunk, [&](std::int64_t begin, std::int64_t end) {
    Product<T, C> part;
    part.transpose_a = p.transpose_a;
    part.transpose_b = p.transpose_b;
    part.m = p.m;
    part.n = p.n;
    part.k = end - begin;
    part.alpha = p.alpha;
    part.a = p.a + begin * (p.transpose_a ? p.lda : 1);
    part.lda = p.lda;
    part.b = p.b + begin * (p.transpose_b ? 1 : p.ldb);
    part.ldb = p.ldb;
    part.c = partial + begin / chunk * size;
    part.ldc = p.n;
    multiply(stream, part);
  });
  parallel_for(stream, p.m, row_grain(chunks * p.n), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      C* sum = partial + i * p.n;
      if (p.beta != 0) add_row(p.c + i * p.ldc, p.beta, p.n, sum);
      for (std::int64_t s = 1; s < chunks; ++s) {
        const C* from = partial + s * size + i * p.n;
        for (std::int64_t j = 0; j < p.n; ++j) sum[j] += from[j];
      }
      store_row(sum, p.n, p.c + i * p.ldc);
    }
  });
}

template <class T, class Out>
void multiply_in_parallel(const Stream& stream, const Product<T, Out>& p) {
  constexpr std::int64_t kLeastDepth = 1024;
  const std::int64_t chunk = extent_of_task(p.k, flops_of(p.m, p.n, 1), kLeastDepth);
  const bool in_task = thread_state().in_parallel;
  if (!in_task && p.k >= 8 * std::max(p.m, p.n) && p.k > chunk && p.m * p.n > 0) {
    return multiply_by_chunks(stream, p, chunk);
  }
  for_each_tile(stream, p.m, p.n, p.k,
                [&](const Tile& tile) { multiply(stream, restrict_to(p, tile)); });
}

/// The product described by three matrices whose shapes are checked here.
template <class T, class Out>
Product<T, Out> describe(bool transpose_a, bool transpose_b, double alpha, const TensorView& a,
                         const TensorView& b, double beta, const TensorView& c) {
  const int first = c.ndim() - 2;
  const std::int64_t m = c.shape[first], n = c.shape[first + 1];
  const std::int64_t k = a.shape[first + (transpose_a ? 0 : 1)];
  check<ShapeError>(a.shape[first + (transpose_a ? 1 : 0)] == m &&
                        b.shape[first + (transpose_b ? 1 : 0)] == k &&
                        b.shape[first + (transpose_b ? 0 : 1)] == n,
                    "gemm: ", a.shape, transpose_a ? " transposed" : "", " times ", b.shape,
                    transpose_b ? " transposed" : "", " does not give ", c.shape);
  Product<T, Out> p;
  p.transpose_a = transpose_a;
  p.transpose_b = transpose_b;
  p.m = m;
  p.n = n;
  p.k = k;
  p.alpha = static_cast<Compute<T>>(alpha);
  p.a = a.as<T>();
  p.lda = transpose_a ? m : k;
  p.b = b.as<T>();
  p.ldb = transpose_b ? k : n;
  p.beta = static_cast<Compute<T>>(beta);
  p.c = c.as<Out>();
  p.ldc = n;
  return p;
}

template <class T, class Out>
void multiply_batch(const Stream& stream, const Product<T, Out>& p, std::int64_t batch) {
  const double flops = flops_of(p.m, p.n, p.k);
  const auto grain = static_cast<std::int64_t>(kTaskFlops / std::max(flops, 1.0)) + 1;
  parallel_for(stream, batch, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      Product<T, Out> one = p;
      one.a += i * p.m * p.k;
      one.b += i * p.k * p.n;
      one.c += i * p.m * p.n;
      multiply_in_parallel(stream, one);
    }
  });
}

}  // namespace

void gemm(const Stream& stream, bool transpose_a, bool transpose_b, double alpha,
          const TensorView& a, const TensorView& b, double beta, const TensorView& c) {
  const int ndim = c.ndim();
  check<ShapeError>((ndim == 2 || ndim == 3) && a.ndim() == ndim && b.ndim() == ndim,
                    "gemm: ", a.shape, " times ", b.shape, " into ", c.shape,
                    ": all must be matrices, or all stacks of matrices");
  MOIETY_CHECK(a.contiguous() && b.contiguous() && c.contiguous());
  const auto run = [&]<class T, class Out>() {
    const Product<T, Out> p = describe<T, Out>(transpose_a, transpose_b, alpha, a, b, beta, c);
    if (ndim == 2) return multiply_in_parallel(stream, p);
    const std::int64_t batch = c.shape[0];
    check<ShapeError>(a.shape[0] == batch && b.shape[0] == batch, "gemm: stacks of ", a.shape[0],
                      ", ", b.shape[0], " and ", batch, " matrices");
    multiply_batch(stream, p, batch);
  };
  visit_storage(a.dtype, [&]<class T>() {
    if constexpr (kIsHalf<T>) {
      if (c.dtype == DType::f32) return run.template operator()<T, float>();
    }
    run.template operator()<T, T>();
  });
}

}  // namespace moiety::kernels::cpu
