// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// One dense product on the calling thread: f32 through oneDNN where the build has it, all else by
// the loops of product_portable_cpu.cpp.
namespace moiety::kernels::cpu {

/// c = alpha op(a) op(b) + beta c, row-major: op(a) [m, k], op(b) [k, n], c [m, n], where op
/// transposes what is stored as [k, m] or [n, k]. ld*: elements from one stored row to the next.
/// c is not read when beta is 0.
template <class T>
struct Product {
  bool transpose_a = false;
  bool transpose_b = false;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  T alpha{1};
  const T* a = nullptr;
  std::int64_t lda = 0;
  const T* b = nullptr;
  std::int64_t ldb = 0;
  T beta{0};
  T* c = nullptr;
  std::int64_t ldc = 0;
};

/// Any extent may be 0.
void multiply(const Product<float>& product);
void multiply(const Product<double>& product);

void multiply_portable(const Product<float>& product);
void multiply_portable(const Product<double>& product);

}  // namespace moiety::kernels::cpu
