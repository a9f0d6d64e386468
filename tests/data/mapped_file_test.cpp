// SPDX-License-Identifier: Apache-2.0
#include "data/mapped_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "support/error_text.h"
#include "support/temporary_folder.h"
#include "tensor/error.h"

namespace moiety::data {
namespace {

using moiety::testing::error_text;
using moiety::testing::says;
using moiety::testing::TemporaryFolder;

std::string write_file(const TemporaryFolder& folder, std::size_t bytes) {
  const std::string path = folder / "file";
  std::ofstream(path) << std::string(bytes, 'x');
  return path;
}

bool all_x(const MappedFile& file) {
  return std::ranges::all_of(file.bytes(), [](std::byte b) { return b == std::byte{'x'}; });
}

TEST(MappedFile, SmallOnesOutliveTheFile) {
  const TemporaryFolder folder;
  const std::string path = write_file(folder, 10'000);
  const MappedFile file(path, 10'000);
  EXPECT_FALSE(file.mapped());
  std::filesystem::resize_file(path, 10);
  EXPECT_EQ(file.bytes().size(), 10'000U);
  EXPECT_TRUE(all_x(file));
}

TEST(MappedFile, LargeOnesAreMapped) {
  const TemporaryFolder folder;
  const std::string path = write_file(folder, 10'000);
  const MappedFile file(path, 9'999);
  EXPECT_TRUE(file.mapped());
  EXPECT_TRUE(all_x(file));
  file.prefetch(0, 10'000);
  EXPECT_NO_THROW(file.check_unchanged());
  std::filesystem::resize_file(path, 5'000);
  EXPECT_TRUE(says(error_text<IoError>([&] { file.check_unchanged(); }), {"file", "changed"}));
}

TEST(MappedFile, EmptyFilesHaveNoBytes) {
  const TemporaryFolder folder;
  EXPECT_TRUE(MappedFile(write_file(folder, 0), 0).bytes().empty());
}

TEST(MappedFile, RefusesWhatIsNoFile) {
  const TemporaryFolder folder;
  EXPECT_TRUE(says(error_text<UserError>([&] { MappedFile(folder / "none", 0); }), {"none"}));
  EXPECT_TRUE(says(error_text<UserError>([&] { MappedFile(folder / ".", 0); }), {"not a regular"}));
}

}  // namespace
}  // namespace moiety::data
