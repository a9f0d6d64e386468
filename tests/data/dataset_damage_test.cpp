// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "data/dataset.h"
#include "data/file_seal.h"
#include "support/dataset_files.h"
#include "support/error_text.h"

namespace moiety::data {
namespace {

using namespace moiety::testing;  // NOLINT: helpers of the tests

constexpr int kTrials = 300;

std::string refusal(const std::string& path) {
  return error_text([&] { const Dataset dataset(path); });
}

class DamagedDataset : public ::testing::Test {
 protected:
  DamagedDataset() {
    write_dataset(good_, random_molecules(60, 1));
    bytes_ = read_bytes(good_);
  }
  void expect_refused(const std::string& bytes, const std::string& what) {
    write_bytes(bad_, bytes);
    ::testing::internal::CaptureStderr();
    const std::string reason = refusal(bad_);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << what;
    EXPECT_TRUE(says(reason, {"bad.h5: "})) << what;
  }

  TemporaryFolder folder_;
  std::string good_ = folder_ / "good.h5";
  std::string bad_ = folder_ / "bad.h5";
  std::string bytes_;
};

TEST_F(DamagedDataset, TruncationIsRefused) {
  Dice dice(2);
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{1}, std::size_t{4095}, std::size_t{4096}, bytes_.size() - 1}) {
    expect_refused(bytes_.substr(0, length), "length " + std::to_string(length));
  }
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto length = static_cast<std::size_t>(dice.below(std::ssize(bytes_)));
    expect_refused(bytes_.substr(0, length), "length " + std::to_string(length));
  }
  expect_refused(bytes_ + '\0', "a byte too many");
}

TEST_F(DamagedDataset, FlippedBitIsRefused) {
  Dice dice(3);
  for (int trial = 0; trial < kTrials; ++trial) {
    std::string bytes = bytes_;
    const std::int64_t bit = dice.below(8 * std::ssize(bytes));
    auto& byte = bytes[static_cast<std::size_t>(bit / 8)];
    byte = static_cast<char>(byte ^ (1 << (bit % 8)));
    expect_refused(bytes, "bit " + std::to_string(bit));
  }
}

TEST_F(DamagedDataset, OverwrittenBlockIsRefused) {
  Dice dice(4);
  for (int trial = 0; trial < kTrials; ++trial) {
    std::string bytes = bytes_;
    const auto begin = static_cast<std::size_t>(dice.below(std::ssize(bytes) - 512));
    for (std::size_t i = 0; i < 512; ++i) bytes[begin + i] = static_cast<char>(dice.below(256));
    expect_refused(bytes, "block at " + std::to_string(begin));
  }
}

TEST_F(DamagedDataset, RefusalNamesTheDataSet) {
  const auto sections = verify_seal(MappedFile(good_));
  const auto x = std::ranges::find(sections, std::string("/node/x"), &FileSection::name);
  ASSERT_NE(x, sections.end());
  std::string bytes = bytes_;
  bytes[static_cast<std::size_t>(x->offset + 5)] ^= 1;
  write_bytes(bad_, bytes);
  EXPECT_TRUE(says(refusal(bad_), {"bad.h5: /node/x is damaged"}));
  EXPECT_THROW(Dataset{bad_}, IoError);
}

TEST_F(DamagedDataset, OtherFilesAreRefused) {
  expect_refused("mol,gap\nCCO,1.5\n", "a CSV file");
  EXPECT_THROW(Dataset{bad_}, UserError);
  expect_refused("\x89HDF\r\n\x1a\n" + std::string(10000, '\0'), "another HDF5 file");
  EXPECT_TRUE(says(refusal(folder_ / "missing.h5"), {"missing.h5"}));
  EXPECT_TRUE(says(refusal(folder_.path()), {"not a regular file"}));
}

/// Files whose seal is right but whose values are not: what a faulty writer would make.
class ForgedDataset : public DamagedDataset {
 protected:
  template <class T>
  void expect_refused_with(const std::string& column, std::int64_t element, T value) {
    const auto sections = verify_seal(MappedFile(good_));
    const auto found = std::ranges::find(sections, column, &FileSection::name);
    ASSERT_NE(found, sections.end()) << column;
    std::string bytes = bytes_;
    const std::int64_t at = found->offset + element * static_cast<std::int64_t>(sizeof(T));
    std::memcpy(bytes.data() + at, &value, sizeof value);
    write_bytes(bad_, bytes);
    std::vector<FileSection> named;
    std::ranges::copy_if(sections, std::back_inserter(named), [](const FileSection& section) {
      return section.name != kBetweenSections;
    });
    write_seal(bad_, named);
    EXPECT_TRUE(says(refusal(bad_), {"bad.h5: /"})) << column;
  }
};

TEST_F(ForgedDataset, ValuesOutOfRangeAreRefused) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 60;
  for (const char* name : {"/graph/node_ptr", "/graph/edge_ptr"}) {
    for (const std::int64_t entry : {0, 7, 60}) {
      expect_refused_with<std::int64_t>(name, entry, kHuge);
      expect_refused_with<std::int64_t>(name, entry, -1);
    }
  }
  expect_refused_with<std::uint8_t>("/node/x", 0, 119);
  expect_refused_with<std::uint8_t>("/edge/attr", 1, 2);
  for (const char* name : {"/edge/src", "/edge/dst"}) {
    expect_refused_with<std::int32_t>(name, 3, 1000);
    expect_refused_with<std::int32_t>(name, 3, -1);
  }
  expect_refused_with<std::int32_t>("/edge/dst", 0, 1);
  expect_refused_with<std::int64_t>("/split/train", 1, 0);
  expect_refused_with<std::int64_t>("/split/valid", 0, 0);
  expect_refused_with<std::int64_t>("/split/test", 0, 60);
}

}  // namespace
}  // namespace moiety::data
