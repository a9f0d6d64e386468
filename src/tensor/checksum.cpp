// SPDX-License-Identifier: Apache-2.0
#include "tensor/checksum.h"

#include <array>
#include <bit>
#include <cstring>

namespace moiety {
namespace {

static_assert(std::endian::native == std::endian::little, "words are hashed as they lie in memory");

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87u;
constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4Fu;
constexpr std::uint64_t kPrime3 = 0x165667B19E3779F9u;
constexpr std::uint64_t kPrime4 = 0x85EBCA77C2B2AE63u;
constexpr std::uint64_t kPrime5 = 0x27D4EB2F165667C5u;

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

constexpr std::uint64_t round(std::uint64_t state, std::uint64_t input) {
  return std::rotl(state + input * kPrime2, 31) * kPrime1;
}

constexpr std::uint64_t merge(std::uint64_t hash, std::uint64_t lane) {
  return (hash ^ round(0, lane)) * kPrime1 + kPrime4;
}

constexpr std::uint64_t avalanche(std::uint64_t hash) {
  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

/// Consumes whole stripes of 32 bytes from `at`.
std::uint64_t hash_stripes(const std::byte*& at, const std::byte* end) {
  std::array<std::uint64_t, 4> lanes = {kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1};
  for (; end - at >= 32; at += 32) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      lanes[i] = round(lanes[i], load<std::uint64_t>(at + 8 * i));
    }
  }
  std::uint64_t hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) +
                       std::rotl(lanes[3], 18);
  for (const std::uint64_t lane : lanes) hash = merge(hash, lane);
  return hash;
}

}  // namespace

std::uint64_t xxh64(std::span<const std::byte> bytes) {
  const std::byte* at = bytes.data();
  const std::byte* end = at + bytes.size();
  std::uint64_t hash = bytes.size() >= 32 ? hash_stripes(at, end) : kPrime5;
  hash += bytes.size();
  for (; end - at >= 8; at += 8) {
    hash = std::rotl(hash ^ round(0, load<std::uint64_t>(at)), 27) * kPrime1 + kPrime4;
  }
  if (end - at >= 4) {
    hash = std::rotl(hash ^ (load<std::uint32_t>(at) * kPrime1), 23) * kPrime2 + kPrime3;
    at += 4;
  }
  for (; at != end; ++at) {
    hash = std::rotl(hash ^ (static_cast<std::uint64_t>(*at) * kPrime5), 11) * kPrime1;
  }
  return avalanche(hash);
}

}  // namespace moiety
