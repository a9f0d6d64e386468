// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "kernels/lanes.h"
#include "tensor/rng.h"

namespace moiety::kernels::cpu {

/// 64 consecutive words of a random stream, from number 64 * block: those of 16 Philox counters,
/// computed side by side so that each step is a vector instruction. Equal to random_u32().
class RandomBlock {
 public:
  static constexpr std::int64_t kWords = 64;

  RandomBlock(RngKey key, std::uint64_t block) {
    for (std::uint64_t i = 0; i < kCounters; i += kWidth) {
      generate(key, block * kCounters + i, words_.data() + 4 * i);
    }
  }

  const std::uint32_t* words() const { return words_.data(); }

 private:
  using Lanes = VectorOf<std::uint64_t>::Type;  // 32-bit words in 64-bit lanes
  static constexpr std::uint64_t kWidth = kLanes<std::uint64_t>;
  static constexpr std::uint64_t kCounters = 16;
  static constexpr std::uint64_t kLow = 0xffffffff;

  /// The words of kWidth counters from `first`.
  static void generate(RngKey key, std::uint64_t first, std::uint32_t* words) {
    Lanes counter;
    for (std::uint64_t i = 0; i < kWidth; ++i) counter[i] = first + i;
    Lanes c0 = counter & kLow;
    Lanes c1 = counter >> 32;
    Lanes c2 = Lanes{} + (key.stream & kLow);
    Lanes c3 = Lanes{} + (key.stream >> 32);
    std::uint64_t k0 = key.seed & kLow;
    std::uint64_t k1 = key.seed >> 32;
    for (int round = 0; round < 10; ++round) {
      const Lanes p0 = c0 * std::uint64_t{0xD2511F53u};
      const Lanes p1 = c2 * std::uint64_t{0xCD9E8D57u};
      c0 = (p1 >> 32) ^ c1 ^ k0;
      c1 = p1 & kLow;
      c2 = (p0 >> 32) ^ c3 ^ k1;
      c3 = p0 & kLow;
      k0 = (k0 + 0x9E3779B9u) & kLow;
      k1 = (k1 + 0xBB67AE85u) & kLow;
    }
    static_assert(std::endian::native == std::endian::little);
    const Lanes low = c0 | c1 << 32;
    const Lanes high = c2 | c3 << 32;
    Lanes first_places;  // lane i of low, then of high
    Lanes second_places;
    for (std::uint64_t i = 0; i < kWidth; ++i) {
      first_places[i] = i / 2 + (i % 2 == 0 ? 0 : kWidth);
      second_places[i] = first_places[i] + kWidth / 2;
    }
    const Lanes first_half = __builtin_shuffle(low, high, first_places);
    const Lanes second_half = __builtin_shuffle(low, high, second_places);
    std::memcpy(words, &first_half, sizeof first_half);
    std::memcpy(words + 2 * kWidth, &second_half, sizeof second_half);
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
