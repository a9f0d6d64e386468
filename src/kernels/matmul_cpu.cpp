// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu_loops.h"
#include "kernels/matmul.h"
#include "kernels/product_tiles.h"
#include "tensor/storage.h"

namespace moiety::kernels::cpu {
namespace {

/// A product with a long k and a small result (the gradient of a weight): chunks of k in parallel,
/// then their sum in order.
template <class T>
void multiply_by_chunks(const Stream& stream, const Product<T>& p, std::int64_t chunk) {
  const std::int64_t chunks = (p.k + chunk - 1) / chunk;
  const std::int64_t size = p.m * p.n;
  const Storage scratch(stream.device(), static_cast<std::size_t>(chunks * size) * sizeof(T));
  auto* partial = reinterpret_cast<T*>(scratch.data());
  parallel_for(stream, p.k, chunk, [&](std::int64_t begin, std::int64_t end) {
    Product<T> part = p;
    part.a += begin * (p.transpose_a ? p.lda : 1);
    part.b += begin * (p.transpose_b ? 1 : p.ldb);
    part.k = end - begin;
    part.beta = T{0};
    part.c = partial + begin / chunk * size;
    part.ldc = p.n;
    multiply(part);
  });
  parallel_for(stream, p.m, row_grain(chunks * p.n), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      T* c = p.c + i * p.ldc;
      for (std::int64_t j = 0; j < p.n; ++j) c[j] = p.beta == T{0} ? T{0} : p.beta * c[j];
      for (std::int64_t s = 0; s < chunks; ++s) {
        const T* from = partial + s * size + i * p.n;
        for (std::int64_t j = 0; j < p.n; ++j) c[j] += from[j];
      }
    }
  });
}

template <class T>
void multiply_in_parallel(const Stream& stream, const Product<T>& p) {
  constexpr std::int64_t kLeastDepth = 1024;
  const std::int64_t chunk = extent_of_task(p.k, flops_of(p.m, p.n, 1), kLeastDepth);
  const bool in_task = thread_state().in_parallel;
  if (!in_task && p.k >= 8 * std::max(p.m, p.n) && p.k > chunk && p.m * p.n > 0) {
    return multiply_by_chunks(stream, p, chunk);
  }
  for_each_tile(stream, p.m, p.n, p.k, [&](const Tile& tile) { multiply(restrict_to(p, tile)); });
}

/// The product described by three matrices whose shapes are checked here.
template <class T>
Product<T> describe(bool transpose_a, bool transpose_b, double alpha, const TensorView& a,
                    const TensorView& b, double beta, const TensorView& c) {
  const int first = c.ndim() - 2;
  const std::int64_t m = c.shape[first], n = c.shape[first + 1];
  const std::int64_t k = a.shape[first + (transpose_a ? 0 : 1)];
  check<ShapeError>(a.shape[first + (transpose_a ? 1 : 0)] == m &&
                        b.shape[first + (transpose_b ? 1 : 0)] == k &&
                        b.shape[first + (transpose_b ? 0 : 1)] == n,
                    "gemm: ", a.shape, transpose_a ? " transposed" : "", " times ", b.shape,
                    transpose_b ? " transposed" : "", " does not give ", c.shape);
  Product<T> p;
  p.transpose_a = transpose_a;
  p.transpose_b = transpose_b;
  p.m = m;
  p.n = n;
  p.k = k;
  p.alpha = static_cast<T>(alpha);
  p.a = a.as<T>();
  p.lda = transpose_a ? m : k;
  p.b = b.as<T>();
  p.ldb = transpose_b ? k : n;
  p.beta = static_cast<T>(beta);
  p.c = c.as<T>();
  p.ldc = n;
  return p;
}

template <class T>
void multiply_batch(const Stream& stream, const Product<T>& p, std::int64_t batch) {
  const double flops = flops_of(p.m, p.n, p.k);
  const auto grain = static_cast<std::int64_t>(kTaskFlops / std::max(flops, 1.0)) + 1;
  parallel_for(stream, batch, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      Product<T> one = p;
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
  visit_float(c.dtype, [&]<class T>() {
    const Product<T> p = describe<T>(transpose_a, transpose_b, alpha, a, b, beta, c);
    if (ndim == 2) return multiply_in_parallel(stream, p);
    const std::int64_t batch = c.shape[0];
    check<ShapeError>(a.shape[0] == batch && b.shape[0] == batch, "gemm: stacks of ", a.shape[0],
                      ", ", b.shape[0], " and ", batch, " matrices");
    multiply_batch(stream, p, batch);
  });
}

}  // namespace moiety::kernels::cpu
