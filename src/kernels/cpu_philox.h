// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "tensor/rng.h"

namespace moiety::kernels::cpu {

/// 64 consecutive words of a random stream, from number 64 * block: those of 16 Philox counters,
/// computed side by side so that each step is a vector instruction. Equal to random_u32().
class RandomBlock {
 public:
  static constexpr std::int64_t kWords = 64;

  RandomBlock(RngKey key, std::uint64_t block) {
    std::array<std::uint32_t, kCounters> c0, c1, c2, c3;
    for (std::uint32_t i = 0; i < kCounters; ++i) {
      const std::uint64_t counter = block * kCounters + i;
      c0[i] = static_cast<std::uint32_t>(counter);
      c1[i] = static_cast<std::uint32_t>(counter >> 32);
      c2[i] = static_cast<std::uint32_t>(key.stream);
      c3[i] = static_cast<std::uint32_t>(key.stream >> 32);
    }
    auto k0 = static_cast<std::uint32_t>(key.seed);
    auto k1 = static_cast<std::uint32_t>(key.seed >> 32);
    for (int round = 0; round < 10; ++round) {
      for (std::uint32_t i = 0; i < kCounters; ++i) {
        const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c0[i];
        const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c2[i];
        c0[i] = static_cast<std::uint32_t>(p1 >> 32) ^ c1[i] ^ k0;
        c1[i] = static_cast<std::uint32_t>(p1);
        c2[i] = static_cast<std::uint32_t>(p0 >> 32) ^ c3[i] ^ k1;
        c3[i] = static_cast<std::uint32_t>(p0);
      }
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    for (std::uint32_t i = 0; i < kCounters; ++i) {
      words_[4 * i] = c0[i];
      words_[4 * i + 1] = c1[i];
      words_[4 * i + 2] = c2[i];
      words_[4 * i + 3] = c3[i];
    }
  }

  const std::uint32_t* words() const { return words_.data(); }

 private:
  static constexpr std::uint32_t kCounters = 16;

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
