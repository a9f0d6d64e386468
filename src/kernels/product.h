// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/cpu_halves.h"
#include "tensor/stream.h"

// One dense product on the calling thread: f32 and bf16 through oneDNN where build and processor
// have it, other products of halves as f32, all else by the loops of product_portable_cpu.cpp.
namespace moiety::kernels::cpu {

/// c = alpha op(a) op(b) + beta c, row-major: op(a) [m, k], op(b) [k, n], c [m, n], where op
/// transposes what is stored as [k, m] or [n, k]. ld*: elements from one stored row to the next.
/// c is not read when beta is 0. Halves are added up in f32, and c may be f32.
template <class T, class Out = T>
struct Product {
  bool transpose_a = false;
  bool transpose_b = false;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Compute<T> alpha{1};
  const T* a = nullptr;
  std::int64_t lda = 0;
  const T* b = nullptr;
  std::int64_t ldb = 0;
  Compute<T> beta{0};
  Out* c = nullptr;
  std::int64_t ldc = 0;
};

/// Any extent may be 0.
void multiply(const Product<float>& product);
void multiply(const Product<double>& product);

void multiply_portable(const Product<float>& product);
void multiply_portable(const Product<double>& product);

/// A product of bf16 or f16, added up in f32: c = alpha op(a) op(b) + beta c + bias, rounded to c's
/// dtype at the end.
struct HalfProduct {
  DType dtype = DType::bf16;   ///< of a, b and bias
  DType result = DType::bf16;  ///< of c: the same, or f32
  bool transpose_a = false;
  bool transpose_b = false;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  float alpha = 1;
  const void* a = nullptr;
  std::int64_t lda = 0;
  const void* b = nullptr;
  std::int64_t ldb = 0;
  float beta = 0;
  void* c = nullptr;
  std::int64_t ldc = 0;
  const void* bias = nullptr;  ///< [n], or none
  bool relu = false;           ///< what is negative becomes 0 at last
};

template <class T, class Out>
HalfProduct as_half_product(const Product<T, Out>& p) {
  return {kDTypeOf<T>, kDTypeOf<Out>, p.transpose_a, p.transpose_b, p.m,  p.n,
          p.k,         p.alpha,       p.a,           p.lda,         p.b,  p.ldb,
          p.beta,      p.c,           p.ldc,         nullptr,       false};
}

/// Takes the memory that it needs meanwhile from the stream's device.
void multiply(const Stream& stream, const HalfProduct& product);

/// A product of any floating type.
template <class T, class Out>
void multiply(const Stream& stream, const Product<T, Out>& product) {
  if constexpr (kIsHalf<T>) {
    multiply(stream, as_half_product(product));
  } else {
    multiply(product);
  }
}

/// The product through oneDNN's kernels for bf16; false where there are none for it.
bool multiply_bf16(const Stream& stream, const HalfProduct& product);

}  // namespace moiety::kernels::cpu
