// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/lanes.h"

// Transposed copies of matrices at the speed of memory: element by element they would cost as much
// as a tenth of the product that reads them.
namespace moiety::kernels::cpu {

namespace transposing {

using Quad = VectorOf<float, 16>::Type;

inline Quad load(const float* from) {
  Quad out;
  std::memcpy(&out, from, sizeof out);
  return out;
}

/// The elements of two vectors as one; through memory it would wait for the stores.
template <class Half, std::size_t... I>
auto join(Half low, Half high, std::index_sequence<I...>) {
  return __builtin_shufflevector(low, high, static_cast<int>(I)...);
}

/// Elements 0 .. 3 of rows 0, 4, 8, ... of as many as fill a vector.
template <int kBytes>
auto gather_rows(const float* from, std::int64_t ld) {
  if constexpr (kBytes == 16) {
    return load(from);
  } else {
    return join(gather_rows<kBytes / 2>(from, ld),
                gather_rows<kBytes / 2>(from + kBytes / 8 * ld, ld),
                std::make_index_sequence<kBytes / 4>());
  }
}

/// In each 16 bytes: the first (kHigh: last) two elements of a and b, interleaved one by one
/// (kStep 1) or as pairs (kStep 2).
template <int kBytes, bool kHigh, int kStep>
auto interleave(typename VectorOf<float, kBytes>::Type a,
                typename VectorOf<float, kBytes>::Type b) {
  constexpr int kCount = kBytes / 4;
  typename VectorOf<std::int32_t, kBytes>::Type places;
  for (int i = 0; i < kCount; ++i) {
    const int quad = i / 4 * 4;
    const int place = i % 4;
    const int pair = kStep == 1 ? place / 2 : place % 2;
    const bool of_b = kStep == 1 ? place % 2 == 1 : place >= 2;
    places[i] = quad + pair + (kHigh ? 2 : 0) + (of_b ? kCount : 0);
  }
  return __builtin_shuffle(a, b, places);
}

}  // namespace transposing

/// to[c * to_ld + r] = from[r * from_ld + c] for r < rows, c < columns.
template <class T>
void transpose(const T* from, std::int64_t from_ld, std::int64_t rows, std::int64_t columns, T* to,
               std::int64_t to_ld) {
  std::int64_t done = 0;  // rows
  if constexpr (std::is_same_v<T, float>) {
    using namespace transposing;
    constexpr std::int64_t kRows = kLanes<float>;
    const std::int64_t quads = columns / 4 * 4;
    for (; done + kRows <= rows; done += kRows) {
      for (std::int64_t c = 0; c < quads; c += 4) {
        const float* at = from + done * from_ld + c;
        std::array<VectorOf<float>::Type, 4> rows_of;
        for (auto& row : rows_of) {
          row = gather_rows<kVectorBytes>(at, from_ld);
          at += from_ld;
        }
        const auto [row0, row1, row2, row3] = rows_of;
        const auto low01 = interleave<kVectorBytes, false, 1>(row0, row1);
        const auto high01 = interleave<kVectorBytes, true, 1>(row0, row1);
        const auto low23 = interleave<kVectorBytes, false, 1>(row2, row3);
        const auto high23 = interleave<kVectorBytes, true, 1>(row2, row3);
        const std::array turned = {interleave<kVectorBytes, false, 2>(low01, low23),
                                   interleave<kVectorBytes, true, 2>(low01, low23),
                                   interleave<kVectorBytes, false, 2>(high01, high23),
                                   interleave<kVectorBytes, true, 2>(high01, high23)};
        float* line = to + c * to_ld + done;
        for (const auto& column : turned) {
          std::memcpy(line, &column, sizeof column);
          line += to_ld;
        }
      }
      for (std::int64_t c = quads; c < columns; ++c) {
        for (std::int64_t r = done; r < done + kRows; ++r)
          to[c * to_ld + r] = from[r * from_ld + c];
      }
    }
  }
  for (; done < rows; ++done) {
    for (std::int64_t c = 0; c < columns; ++c) to[c * to_ld + done] = from[done * from_ld + c];
  }
}

}  // namespace moiety::kernels::cpu
