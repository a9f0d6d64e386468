// SPDX-License-Identifier: Apache-2.0
#include "data/checksum.h"

#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "tensor/error.h"

namespace moiety::data {
namespace {

using namespace moiety::testing;  // NOLINT: helpers of the tests

TEST(FileChecksum, NamesTheAlgorithmAndTheMissingFile) {
  const TemporaryFolder folder;
  write_bytes(folder / "a", "abc");
  EXPECT_EQ(file_checksum(folder / "a"), "xxh64:44bc2cf5ad770999");
  write_bytes(folder / "empty", "");
  EXPECT_EQ(file_checksum(folder / "empty"), "xxh64:ef46db3751d8e999");
  EXPECT_THROW(file_checksum(folder / "missing"), UserError);
}

}  // namespace
}  // namespace moiety::data
