// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "kernels/lanes.h"
#include "tensor/rng.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace moiety::kernels::cpu {

/// 64 consecutive words of a random stream, from number 64 * block: those of 16 Philox counters,
/// computed side by side so that each step is a vector instruction. Equal to random_u32().
class RandomBlock {
 public:
  static constexpr std::int64_t kWords = 64;

  RandomBlock(RngKey key, std::uint64_t block) {
    for (std::uint64_t i = 0; i < kCounters; i += kVectors * kWidth) {
      generate(key, block * kCounters + i, words_.data() + 4 * i);
    }
  }

  const std::uint32_t* words() const { return words_.data(); }

 private:
  using Lanes = VectorOf<std::uint64_t>::Type;  // 32-bit words in 64-bit lanes
  static constexpr std::uint64_t kWidth = kLanes<std::uint64_t>;
  static constexpr std::uint64_t kCounters = 16;
  static constexpr std::uint64_t kVectors = 2;  // side by side: a round waits for its products
  static constexpr std::uint64_t kLow = 0xffffffff;

  /// Products of the low words of a with a word. The instruction for it reads no high words, so
  /// that none have to be cleared between the rounds.
  static Lanes multiply_low(const Lanes& a, std::uint32_t word) {
#if defined(__AVX512F__)
    constexpr __mmask8 kAll = 0xff;  // by name: GCC 12 warns of the form without a mask
    return reinterpret_cast<Lanes>(
        _mm512_maskz_mul_epu32(kAll, reinterpret_cast<__m512i>(a), _mm512_set1_epi64(word)));
#elif defined(__AVX2__)
    return reinterpret_cast<Lanes>(
        _mm256_mul_epu32(reinterpret_cast<__m256i>(a), _mm256_set1_epi64x(word)));
#else
    return (a & kLow) * std::uint64_t{word};
#endif
  }

  /// Counters c0 .. c3 on their way to random words; high words of lanes are whatever they become.
  struct State {
    Lanes c0, c1, c2, c3;

    void next(const Lanes& k0, const Lanes& k1) {
      const Lanes p0 = multiply_low(c0, 0xD2511F53u);
      const Lanes p1 = multiply_low(c2, 0xCD9E8D57u);
      c0 = (p1 >> 32) ^ c1 ^ k0;
      c1 = p1;
      c2 = (p0 >> 32) ^ c3 ^ k1;
      c3 = p0;
    }

    /// Counter by counter.
    void store(std::uint32_t* words) const {
      static_assert(std::endian::native == std::endian::little);
      const Lanes low = (c0 & kLow) | c1 << 32;
      const Lanes high = (c2 & kLow) | c3 << 32;
      Lanes places;  // lane i of low, then of high
      for (std::uint64_t i = 0; i < kWidth; ++i) places[i] = i / 2 + (i % 2 == 0 ? 0 : kWidth);
      const Lanes first_half = __builtin_shuffle(low, high, places);
      const Lanes second_half = __builtin_shuffle(low, high, places + kWidth / 2);
      std::memcpy(words, &first_half, sizeof first_half);
      std::memcpy(words + 2 * kWidth, &second_half, sizeof second_half);
    }
  };

  /// The words of kVectors * kWidth counters from `first`.
  static void generate(RngKey key, std::uint64_t first, std::uint32_t* words) {
    Lanes counter;
    for (std::uint64_t i = 0; i < kWidth; ++i) counter[i] = i;
    counter += first;
    std::array<State, kVectors> states;
    for (State& state : states) {
      state = {counter, counter >> 32, Lanes{} + key.stream, Lanes{} + (key.stream >> 32)};
      counter += kWidth;
    }
    Lanes k0 = Lanes{} + key.seed;
    Lanes k1 = Lanes{} + (key.seed >> 32);
    for (int round = 0; round < 10; ++round) {
      for (State& state : states) state.next(k0, k1);
      k0 += std::uint64_t{0x9E3779B9u};
      k1 += std::uint64_t{0xBB67AE85u};
    }
    for (std::uint64_t v = 0; v < kVectors; ++v) states[v].store(words + 4 * v * kWidth);
  }

  alignas(64) std::array<std::uint32_t, kWords> words_;
};

/// Calls body(i, words, count) for runs that cover elements [begin, end), where words[0] is word
/// first + i of the stream and `count` words follow.
template <class Body>
void for_random_runs(RngKey key, std::uint64_t first, std::int64_t begin, std::int64_t end,
                     const Body& body) {
  for (std::int64_t i = begin; i < end;) {
    const std::uint64_t number = first + static_cast<std::uint64_t>(i);
    const RandomBlock block(key, number / RandomBlock::kWords);
    const auto skip = static_cast<std::int64_t>(number % RandomBlock::kWords);
    const std::int64_t count = std::min(RandomBlock::kWords - skip, end - i);
    body(i, block.words() + skip, count);
    i += count;
  }
}

}  // namespace moiety::kernels::cpu
