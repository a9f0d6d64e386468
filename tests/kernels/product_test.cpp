// SPDX-License-Identifier: Apache-2.0
#include "kernels/product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/transpose_cpu.h"
#include "tensor/rng.h"

namespace moiety::kernels::cpu {
namespace {

template <class T>
std::vector<T> random_values(std::int64_t count, std::uint64_t stream) {
  std::vector<T> out(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<T>(random_below({5, stream}, i, 2001)) / T{1000} - T{1};
  }
  return out;
}

template <class T>
class CpuProduct : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CpuProduct, Floats);

/// Rows of all operands are apart by more than they hold; what lies between must stay as it is.
template <class T>
void check_product(Product<T> p) {
  constexpr std::int64_t kGap = 3;
  constexpr T kUntouched = 77;
  p.lda = (p.transpose_a ? p.m : p.k) + kGap;
  p.ldb = (p.transpose_b ? p.k : p.n) + kGap;
  p.ldc = p.n + kGap;
  const auto a = random_values<T>((p.transpose_a ? p.k : p.m) * p.lda, 1);
  const auto b = random_values<T>((p.transpose_b ? p.n : p.k) * p.ldb, 2);
  const auto before = random_values<T>(p.m * p.ldc, 3);
  auto c = before;
  for (std::size_t i = 0; i < c.size(); ++i) {
    if (static_cast<std::int64_t>(i) % p.ldc >= p.n) c[i] = kUntouched;
  }
  p.a = a.data();
  p.b = b.data();
  p.c = c.data();
  multiply_portable(p);
  const double tolerance = std::is_same_v<T, float> ? 5e-5 : 1e-13;
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.ldc; ++j) {
      const auto at = static_cast<std::size_t>(i * p.ldc + j);
      if (j >= p.n) {
        ASSERT_EQ(c[at], kUntouched);
        continue;
      }
      double sum = 0;
      for (std::int64_t r = 0; r < p.k; ++r) {
        sum += static_cast<double>(p.a[p.transpose_a ? r * p.lda + i : i * p.lda + r]) *
               static_cast<double>(p.b[p.transpose_b ? j * p.ldb + r : r * p.ldb + j]);
      }
      const double wanted = static_cast<double>(p.alpha) * sum +
                            static_cast<double>(p.beta) * static_cast<double>(before[at]);
      ASSERT_NEAR(static_cast<double>(c[at]), wanted, tolerance)
          << p.m << " x " << p.n << " x " << p.k << (p.transpose_a ? " ta" : "")
          << (p.transpose_b ? " tb" : "") << " at " << i << ", " << j;
    }
  }
}

TYPED_TEST(CpuProduct, OfAnyExtents) {
  for (const std::int64_t m : {1, 8, 13}) {
    for (const std::int64_t n : {1, 5, 16, 17, 33, 47}) {
      for (const std::int64_t k : {1, 32, 131}) {
        for (const bool transpose_a : {false, true}) {
          for (const bool transpose_b : {false, true}) {
            const TypeParam beta = (m + n + k) % 2 == 0 ? TypeParam{0} : TypeParam{-0.5};
            check_product<TypeParam>({.transpose_a = transpose_a,
                                      .transpose_b = transpose_b,
                                      .m = m,
                                      .n = n,
                                      .k = k,
                                      .alpha = TypeParam{1.5},
                                      .beta = beta});
            if (::testing::Test::HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TYPED_TEST(CpuProduct, TransposesAnyMatrix) {
  for (const std::int64_t rows : {0, 1, 4, 15, 16, 17, 33, 64}) {
    for (const std::int64_t columns : {0, 1, 3, 4, 5, 32, 39}) {
      const std::int64_t from_ld = columns + 2;
      const std::int64_t to_ld = rows + 1;
      const auto from = random_values<TypeParam>(rows * from_ld, 4);
      constexpr TypeParam kUntouched = 77;
      std::vector<TypeParam> to(static_cast<std::size_t>(columns * to_ld), kUntouched);
      transpose(from.data(), from_ld, rows, columns, to.data(), to_ld);
      for (std::int64_t c = 0; c < columns; ++c) {
        for (std::int64_t r = 0; r < to_ld; ++r) {
          const TypeParam wanted =
              r < rows ? from[static_cast<std::size_t>(r * from_ld + c)] : kUntouched;
          ASSERT_EQ(to[static_cast<std::size_t>(c * to_ld + r)], wanted)
              << rows << " x " << columns << " at " << r << ", " << c;
        }
      }
    }
  }
}

}  // namespace
}  // namespace moiety::kernels::cpu
