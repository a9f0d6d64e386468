// SPDX-License-Identifier: Apache-2.0
#include "apps/tensorboard.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "support/temporary_folder.h"

namespace moiety::apps {
namespace {

using moiety::testing::read_bytes;
using moiety::testing::TemporaryFolder;

template <class T>
T number_at(std::string_view bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::uint32_t unmask(std::uint32_t masked) { return std::rotl(masked - 0xA282EAD8u, 15); }

/// The records of a TFRecord file, their checksums checked.
std::vector<std::string> records_of(const std::string& file) {
  std::vector<std::string> records;
  std::string_view rest = file;
  while (!rest.empty()) {
    const auto size = number_at<std::uint64_t>(rest, 0);
    EXPECT_EQ(unmask(number_at<std::uint32_t>(rest, 8)), crc32c(rest.substr(0, 8)));
    records.emplace_back(rest.substr(12, size));
    EXPECT_EQ(unmask(number_at<std::uint32_t>(rest, 12 + size)), crc32c(records.back()));
    rest.remove_prefix(16 + size);
  }
  return records;
}

std::string only_file(const TemporaryFolder& folder) {
  std::string content;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_NE(entry.path().filename().string().find("tfevents"), std::string::npos);
    content += read_bytes(entry.path());
  }
  return content;
}

TEST(Crc32c, KnownValues) {
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);    // RFC 3720, B.4
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43u);  // the same
}

TEST(EventWriter, WritesTheVersionAndScalars) {
  const TemporaryFolder folder;
  {
    EventWriter writer(folder.path());
    writer.scalar("valid/mae", 300, 0.25);
  }
  const std::vector<std::string> records = records_of(only_file(folder));
  ASSERT_EQ(records.size(), 2u);
  EXPECT_TRUE(
      records[0].ends_with("\x1A\x0D"
                           "brain.Event:2"));
  // wall time: tag 0x09 and 8 bytes; step 300: tag 0x10 and two bytes of varint.
  const std::string& event = records[1];
  EXPECT_EQ(event[0], 0x09);
  EXPECT_GT(number_at<double>(event, 1), 1.6e9);
  EXPECT_EQ(event.substr(9, 3), "\x10\xAC\x02");
  // summary { value { tag: "valid/mae" simple_value: 0.25 } }
  const std::string value =
      std::string("\x0A\x09valid/mae\x15", 12) + std::string("\0\0\x80\x3E", 4);
  EXPECT_EQ(event.substr(12), "\x2A\x12\x0A\x10" + value);
}

TEST(EventWriter, AResumedTrainingForgetsLaterSteps) {
  const TemporaryFolder folder;
  { EventWriter writer(folder.path(), 40); }
  const std::vector<std::string> records = records_of(only_file(folder));
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[1].substr(9), "\x10\x29\x3A\x02\x08\x01");  // step 41, session_log { START }
}

}  // namespace
}  // namespace moiety::apps
