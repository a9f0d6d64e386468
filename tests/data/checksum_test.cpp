// SPDX-License-Identifier: Apache-2.0
#include "data/checksum.h"

#include <gtest/gtest.h>

#include <string_view>

#include "support/temporary_folder.h"
#include "tensor/error.h"

namespace moiety::data {
namespace {

using namespace moiety::testing;  // NOLINT: helpers of the tests

std::uint64_t hash(std::string_view text) { return xxh64(std::as_bytes(std::span(text))); }

/// Values of the reference implementation, xxhsum -H1.
TEST(Xxh64, KnownAnswers) {
  EXPECT_EQ(hash(""), 0xEF46DB3751D8E999u);
  EXPECT_EQ(hash("a"), 0xD24EC4F1A98C6E5Bu);
  EXPECT_EQ(hash("abc"), 0x44BC2CF5AD770999u);
  EXPECT_EQ(hash("Nobody inspects the spammish repetition"), 0xFBCEA83C8A378BF1u);
}

TEST(Xxh64, EveryBitCountsAtEveryLength) {
  for (std::size_t length = 1; length < 80; ++length) {
    std::string text(length, 'm');
    const std::uint64_t before = hash(text);
    for (std::size_t bit = 0; bit < 8 * length; ++bit) {
      text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << (bit % 8)));
      EXPECT_NE(hash(text), before) << length << " bytes, bit " << bit;
      text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << (bit % 8)));
    }
  }
}

TEST(FileChecksum, NamesTheAlgorithmAndTheMissingFile) {
  const TemporaryFolder folder;
  write_bytes(folder / "a", "abc");
  EXPECT_EQ(file_checksum(folder / "a"), "xxh64:44bc2cf5ad770999");
  write_bytes(folder / "empty", "");
  EXPECT_EQ(file_checksum(folder / "empty"), "xxh64:ef46db3751d8e999");
  EXPECT_THROW(file_checksum(folder / "missing"), IoError);
}

}  // namespace
}  // namespace moiety::data
