// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace moiety {

/// A stream of random numbers: the same (seed, stream) gives the same numbers at the same index on
/// any device, any number of threads or ranks, and after a restart.
struct RngKey {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
};

/// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011): four
/// words for each 64-bit counter. Matches the Random123 known-answer tests.
constexpr std::array<std::uint32_t, 4> philox(RngKey key, std::uint64_t counter) {
  std::uint32_t k0 = static_cast<std::uint32_t>(key.seed);
  std::uint32_t k1 = static_cast<std::uint32_t>(key.seed >> 32);
  std::array<std::uint32_t, 4> c = {
      static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32),
      static_cast<std::uint32_t>(key.stream), static_cast<std::uint32_t>(key.stream >> 32)};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(p0)};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

/// Word number `index` of the stream.
constexpr std::uint32_t random_u32(RngKey key, std::uint64_t index) {
  return philox(key, index >> 2)[index & 3];
}

/// Number `index` of the stream, uniform in [0, 1) with 24 bits.
constexpr float random_uniform(RngKey key, std::uint64_t index) {
  return static_cast<float>(random_u32(key, index) >> 8) * 0x1p-24f;
}

/// Uniform in [0, bound), unbiased enough for shuffles: 64 random bits scaled (Lemire). Takes words
/// 4 * index and 4 * index + 1 of the stream; 0 for a bound of 0.
constexpr std::uint64_t random_below(RngKey key, std::uint64_t index, std::uint64_t bound) {
  const auto words = philox(key, index);
  const std::uint64_t bits = (std::uint64_t{words[0]} << 32) | words[1];
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(bits) * bound) >> 64);
}

/// A key for one purpose under one seed: derive_key(seed, kDropout, step). Two purposes or numbers
/// share a stream with probability 2^-64.
constexpr RngKey derive_key(std::uint64_t seed, std::uint64_t purpose, std::uint64_t number) {
  const auto words = philox({seed, purpose}, number);
  return {seed, (std::uint64_t{words[0]} << 32) | words[1]};
}

}  // namespace moiety
