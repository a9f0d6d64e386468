// SPDX-License-Identifier: Apache-2.0
#include "tensor/checksum.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>
#include <vector>

namespace moiety {
namespace {

std::uint64_t hash_of(std::string_view text) { return xxh64(std::as_bytes(std::span(text))); }

TEST(Checksum, EqualsTheReferenceImplementation) {
  EXPECT_EQ(hash_of(""), 0xef46db3751d8e999u);
  EXPECT_EQ(hash_of("abc"), 0x44bc2cf5ad770999u);
  const std::pair<std::size_t, std::uint64_t> golden[] = {
      {1, 0xe934a84adb052768u},   {4, 0xae5acdc00a55ac41u},   {8, 0x87116b3365b924ebu},
      {31, 0xf187c62b1e722b7u},   {32, 0x91b0cb0931a8c629u},  {33, 0x931b043cf8d65b94u},
      {100, 0x8e2272c08247d5dbu}, {1000, 0x25275608a9cfc168u}};
  for (const auto& [size, expected] : golden) {
    std::vector<std::uint8_t> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * 7);
    EXPECT_EQ(xxh64(std::as_bytes(std::span(bytes))), expected) << size;
  }
}

TEST(Checksum, SeesEveryFlippedBit) {
  std::vector<std::byte> bytes(77, std::byte{0x5a});
  const std::uint64_t whole = xxh64(bytes);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_NE(xxh64(bytes), whole) << bit;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
}

}  // namespace
}  // namespace moiety
