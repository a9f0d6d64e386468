// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "kernels/cpu_halves.h"

// Blocks of a row held in vector registers. The compiler keeps plain accumulator arrays on the
// stack as often as not; with its vector types they stay in registers.
namespace moiety::kernels::cpu {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

template <class T>
inline constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));

template <class T, int kBytes = kVectorBytes>
struct VectorOf {
  using Type [[gnu::vector_size(kBytes)]] = T;
};

/// Sum of a vector's elements: halves are added until 16 bytes are left.
template <class T, int kBytes>
T sum_lanes(typename VectorOf<T, kBytes>::Type x) {
  if constexpr (kBytes > 16) {
    using Half = typename VectorOf<T, kBytes / 2>::Type;
    struct Halves {
      Half low;
      Half high;
    };
    const auto halves = std::bit_cast<Halves>(x);
    return sum_lanes<T, kBytes / 2>(halves.low + halves.high);
  } else if constexpr (sizeof(T) == 4) {
    return (x[0] + x[2]) + (x[1] + x[3]);
  } else {
    return x[0] + x[1];
  }
}

/// A vector of floats from as many consecutive bf16.
template <class Floats>
Floats widen_lanes(const BFloat16* from) {
  using Words = typename VectorOf<std::uint32_t, sizeof(Floats)>::Type;
  using Halves = typename VectorOf<std::uint16_t, sizeof(Floats) / 2>::Type;
  Halves bits;
  std::memcpy(&bits, from, sizeof bits);
  return std::bit_cast<Floats>(__builtin_convertvector(bits, Words) << 16);
}

/// The reverse, rounded like to_bfloat16.
template <class Floats>
void narrow_lanes(Floats x, BFloat16* to) {
  using Words = typename VectorOf<std::uint32_t, sizeof(Floats)>::Type;
  using Halves = typename VectorOf<std::uint16_t, sizeof(Floats) / 2>::Type;
  const auto bits = std::bit_cast<Words>(x);
  const Words nan = (bits >> 16) | 0x40u;
  const Words nearest = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const Words words = (bits & 0x7fffffffu) > 0x7f800000u ? nan : nearest;
  const Halves halves = __builtin_convertvector(words, Halves);
  std::memcpy(to, &halves, sizeof halves);
}

/// K vectors of consecutive elements.
template <class T, int K, int kBytes = kVectorBytes>
struct Block {
  using Vector = typename VectorOf<T, kBytes>::Type;
  static constexpr int kWidth = kBytes / static_cast<int>(sizeof(T));
  Vector v[K];

  void load(const T* from) {
    for (int k = 0; k < K; ++k) std::memcpy(&v[k], from + k * kWidth, sizeof v[k]);
  }
  void store(T* to) const {
    for (int k = 0; k < K; ++k) std::memcpy(to + k * kWidth, &v[k], sizeof v[k]);
  }
  void load(const BFloat16* from) {
    for (int k = 0; k < K; ++k) v[k] = widen_lanes<Vector>(from + k * kWidth);
  }
  void store(BFloat16* to) const {
    for (int k = 0; k < K; ++k) narrow_lanes(v[k], to + k * kWidth);
  }
  void load(const Float16* from) {
    std::array<T, K * kWidth> wide;
    widen(DType::f16, from, K * kWidth, wide.data());
    load(wide.data());
  }
  void store(Float16* to) const {
    std::array<T, K * kWidth> wide;
    store(wide.data());
    narrow(wide.data(), K * kWidth, DType::f16, to);
  }
  void clear() {
    for (int k = 0; k < K; ++k) v[k] = Vector{};
  }
  void add(const Block& x) {
    for (int k = 0; k < K; ++k) v[k] += x.v[k];
  }
  void subtract(const Block& x) {
    for (int k = 0; k < K; ++k) v[k] -= x.v[k];
  }
  void subtract(T x) {
    for (int k = 0; k < K; ++k) v[k] -= x;
  }
  void add_scaled(T scale, const Block& x) {
    for (int k = 0; k < K; ++k) v[k] += scale * x.v[k];
  }
  void add_product(const Block& x, const Block& y) {
    for (int k = 0; k < K; ++k) v[k] += x.v[k] * y.v[k];
  }
  void scale(T by) {
    for (int k = 0; k < K; ++k) v[k] *= by;
  }
  void multiply(const Block& x) {
    for (int k = 0; k < K; ++k) v[k] *= x.v[k];
  }
  void invert() {
    for (int k = 0; k < K; ++k) v[k] = T{1} / v[k];
  }
  void keep_larger(const Block& x) {
    for (int k = 0; k < K; ++k) v[k] = v[k] < x.v[k] ? x.v[k] : v[k];
  }
  /// Clears the elements whose counterpart in `gate` is zero or negative; a NaN there lets pass.
  void keep_positive(const Block& gate) {
    for (int k = 0; k < K; ++k) v[k] = gate.v[k] <= T{0} ? Vector{} : v[k];
  }
  /// Adds each element to one of consecutive doubles.
  void add_to(double* sums) const {
    std::array<T, K * kWidth> elements;
    store(elements.data());
    for (int i = 0; i < K * kWidth; ++i) sums[i] += static_cast<double>(elements[i]);
  }
  /// Sum of the elements, in a fixed order.
  T sum() const {
    Vector total = v[0];
    for (int k = 1; k < K; ++k) total += v[k];
    return sum_lanes<T, kBytes>(total);
  }
};

/// The columns that are left after the last 16 bytes: the same interface in scalars.
template <class T>
struct TailBlock {
  std::array<T, 16 / sizeof(T)> v{};
  int count = 0;

  explicit TailBlock(int columns) : count(columns) {}
  void load(const T* from) {
    for (int k = 0; k < count; ++k) v[k] = from[k];
  }
  void store(T* to) const {
    for (int k = 0; k < count; ++k) to[k] = v[k];
  }
  template <class Half>
  void load(const Half* from) {
    widen(kDTypeOf<Half>, from, count, v.data());
  }
  template <class Half>
  void store(Half* to) const {
    narrow(v.data(), count, kDTypeOf<Half>, to);
  }
  void clear() { v.fill(T{}); }
  void add(const TailBlock& x) {
    for (int k = 0; k < count; ++k) v[k] += x.v[k];
  }
  void subtract(const TailBlock& x) {
    for (int k = 0; k < count; ++k) v[k] -= x.v[k];
  }
  void subtract(T x) {
    for (int k = 0; k < count; ++k) v[k] -= x;
  }
  void add_scaled(T scale, const TailBlock& x) {
    for (int k = 0; k < count; ++k) v[k] += scale * x.v[k];
  }
  void add_product(const TailBlock& x, const TailBlock& y) {
    for (int k = 0; k < count; ++k) v[k] += x.v[k] * y.v[k];
  }
  void scale(T by) {
    for (int k = 0; k < count; ++k) v[k] *= by;
  }
  void multiply(const TailBlock& x) {
    for (int k = 0; k < count; ++k) v[k] *= x.v[k];
  }
  void invert() {
    for (int k = 0; k < count; ++k) v[k] = T{1} / v[k];
  }
  void keep_larger(const TailBlock& x) {
    for (int k = 0; k < count; ++k) v[k] = v[k] < x.v[k] ? x.v[k] : v[k];
  }
  void keep_positive(const TailBlock& gate) {
    for (int k = 0; k < count; ++k) v[k] = gate.v[k] <= T{0} ? T{} : v[k];
  }
  void add_to(double* sums) const {
    for (int k = 0; k < count; ++k) sums[k] += static_cast<double>(v[k]);
  }
  T sum() const {
    T out{};
    for (int k = 0; k < count; ++k) out += v[k];
    return out;
  }
};

/// Calls f(first_column, block) for blocks that cover columns [begin, end): f makes its registers
/// by copying `block`, whose elements are unspecified. Blocks of halves are blocks of floats.
template <class Stored, class F>
void for_column_blocks(std::int64_t begin, std::int64_t end, const F& f) {
  using T = Compute<Stored>;
  constexpr std::int64_t kWidth = kLanes<T>;
  std::int64_t c = begin;
  for (; c + 4 * kWidth <= end; c += 4 * kWidth) f(c, Block<T, 4>{});
  if (c + 2 * kWidth <= end) {
    f(c, Block<T, 2>{});
    c += 2 * kWidth;
  }
  if (c + kWidth <= end) {
    f(c, Block<T, 1>{});
    c += kWidth;
  }
  if constexpr (kVectorBytes > 16) {
    constexpr std::int64_t kNarrow = 16 / sizeof(T);  // few columns, such as attention heads
    for (; c + kNarrow <= end; c += kNarrow) f(c, Block<T, 1, 16>{});
  }
  if (c < end) f(c, TailBlock<T>(static_cast<int>(end - c)));
}

/// Columns of one task where tasks share out columns instead of rows, when a column has `elements`
/// elements: the widest block, or half of it where even that is long work.
template <class T>
std::int64_t column_grain(std::int64_t elements) {
  constexpr std::int64_t kWidest = 4 * kLanes<T>;
  constexpr std::int64_t kElementsPerTask = 65536;
  constexpr std::int64_t kLongColumn = 16384;
  if (elements > kLongColumn) return kWidest / 2;
  const std::int64_t wanted = kElementsPerTask / std::max<std::int64_t>(1, elements);
  return (std::max<std::int64_t>(1, wanted) + kWidest - 1) / kWidest * kWidest;
}

/// Sum over columns of a[c] b[c], in an order that depends on `columns` alone.
template <class T>
T dot(const T* a, const T* b, std::int64_t columns) {
  constexpr std::int64_t kWidth = 4 * kLanes<T>;
  const std::int64_t whole = columns / kWidth * kWidth;
  T total{};
  if (whole > 0) {
    Block<T, 4> sum, x, y;
    sum.clear();
    for (std::int64_t c = 0; c < whole; c += kWidth) {
      x.load(a + c);
      y.load(b + c);
      sum.add_product(x, y);
    }
    total = sum.sum();
  }
  for_column_blocks<T>(whole, columns, [&](std::int64_t c, auto sum) {
    auto x = sum, y = sum;
    sum.clear();
    x.load(a + c);
    y.load(b + c);
    sum.add_product(x, y);
    total += sum.sum();
  });
  return total;
}

}  // namespace moiety::kernels::cpu
