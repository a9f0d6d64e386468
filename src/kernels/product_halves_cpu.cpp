// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/product.h"
#include "tensor/storage.h"

namespace moiety::kernels::cpu {
namespace {

/// Floats for the time of a product.
class Floats {
 public:
  Floats(const Stream& stream, std::int64_t count)
      : storage_(stream.device(), static_cast<std::size_t>(count) * sizeof(float)) {}
  float* data() const { return reinterpret_cast<float*>(storage_.data()); }

 private:
  Storage storage_;
};

const std::uint16_t* bits_of(const void* halves) {
  return static_cast<const std::uint16_t*>(halves);
}

/// A factor as it is stored, [rows, columns], without gaps between its rows.
void widen_rows(DType dtype, const void* from, std::int64_t rows, std::int64_t columns,
                std::int64_t ld, float* to) {
  for (std::int64_t r = 0; r < rows; ++r) {
    widen(dtype, bits_of(from) + r * ld, columns, to + r * columns);
  }
}

/// Adds what the sum of products lacks to its row i, and puts it into c.
void finish_row(const HalfProduct& p, std::int64_t i, const float* bias, float* buffer,
                float* sums) {
  const auto at = static_cast<std::size_t>(i * p.ldc);
  const bool rounds = is_half(p.result);
  auto* c = static_cast<std::byte*>(p.c) + at * size_of(p.result);
  if (p.beta != 0) {
    const auto* before = reinterpret_cast<const float*>(c);
    if (rounds) {
      widen(p.result, c, p.n, buffer);
      before = buffer;
    }
    for (std::int64_t j = 0; j < p.n; ++j) sums[j] += p.beta * before[j];
  }
  if (bias != nullptr) {
    for (std::int64_t j = 0; j < p.n; ++j) sums[j] += bias[j];
  }
  if (p.relu) {
    for (std::int64_t j = 0; j < p.n; ++j) sums[j] = sums[j] < 0 ? 0 : sums[j];  // NaN stays
  }
  if (rounds) return narrow(sums, p.n, p.result, c);
  std::copy_n(sums, p.n, reinterpret_cast<float*>(c));
}

void multiply_as_f32(const Stream& stream, const HalfProduct& p) {
  const std::int64_t a_columns = p.transpose_a ? p.m : p.k;
  const std::int64_t b_columns = p.transpose_b ? p.k : p.n;
  const Floats a(stream, p.m * p.k);
  const Floats b(stream, p.k * p.n);
  widen_rows(p.dtype, p.a, p.transpose_a ? p.k : p.m, a_columns, p.lda, a.data());
  widen_rows(p.dtype, p.b, p.transpose_b ? p.n : p.k, b_columns, p.ldb, b.data());
  const Floats sums(stream, p.m * p.n);
  Product<float> product;
  product.transpose_a = p.transpose_a;
  product.transpose_b = p.transpose_b;
  product.m = p.m;
  product.n = p.n;
  product.k = p.k;
  product.alpha = p.alpha;
  product.a = a.data();
  product.lda = a_columns;
  product.b = b.data();
  product.ldb = b_columns;
  product.c = sums.data();
  product.ldc = p.n;
  multiply(product);
  const Floats rows(stream, 2 * p.n);
  if (p.bias != nullptr) widen(p.dtype, p.bias, p.n, rows.data());
  for (std::int64_t i = 0; i < p.m; ++i) {
    finish_row(p, i, p.bias != nullptr ? rows.data() : nullptr, rows.data() + p.n,
               sums.data() + i * p.n);
  }
}

}  // namespace

void multiply(const Stream& stream, const HalfProduct& product) {
  if (product.m == 0 || product.n == 0) return;
  if (product.dtype == DType::bf16 && multiply_bf16(stream, product)) return;
  multiply_as_f32(stream, product);
}

}  // namespace moiety::kernels::cpu
