// SPDX-License-Identifier: Apache-2.0
#include "nn/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

#include "nn/checkpoint.h"
#include "support/error_text.h"
#include "support/temporary_folder.h"

namespace moiety::nn {
namespace {

using testing::error_text;
using testing::says;

std::string with_length(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  std::string out(8, '\0');
  std::memcpy(out.data(), &length, 8);
  return out + header + data;
}

TEST(Safetensors, PutsWideElementsFirst) {
  SafetensorsHeader header;
  header.tensors["a"] = {DType::u8, {3}};
  header.tensors["b"] = {DType::f64, {2, 2}};
  header.tensors["c"] = {DType::bf16, {1}};
  header.tensors["d"] = {DType::i64, {}};
  header.tensors["e"] = {DType::f32, {0, 5}};
  EXPECT_EQ(place_tensors(header), (std::vector<std::string>{"b", "d", "e", "c", "a"}));
  EXPECT_EQ(header.tensors["d"].begin, 32);
  EXPECT_EQ(header.tensors["e"].begin, 40);
  EXPECT_EQ(header.tensors["a"].begin, 42);
  EXPECT_EQ(header.tensors["a"].end, 45);
  const SafetensorsHeader back =
      parse_safetensors_header(format_safetensors_header(header), 45, "file");
  EXPECT_EQ(back.tensors.at("b").shape, (Shape{2, 2}));
  EXPECT_EQ(back.tensors.at("c").dtype, DType::bf16);
}

std::string error_of(const std::string& tensors, std::int64_t data_bytes) {
  return error_text<IoError>(
      [&] { parse_safetensors_header("{" + tensors + "}", data_bytes, "file"); });
}

std::string entry(const std::string& name, const std::string& shape, const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"F32\",\"shape\":[" + shape + "],\"data_offsets\":[" +
         offsets + "]}";
}

TEST(Safetensors, RefusesPlacesThatMakeNoSense) {
  EXPECT_TRUE(says(error_of(entry("w", "2", "0,8"), 7), {"tensor \"w\"", "truncated or damaged"}));
  EXPECT_TRUE(says(error_of(entry("w", "2", "8,0"), 8), {"tensor \"w\" lies at bytes 8 to 0"}));
  EXPECT_TRUE(says(error_of(entry("w", "3", "0,8"), 8), {"do not fit its shape [3] of f32"}));
  EXPECT_TRUE(says(error_of(entry("w", "2", "4,12"), 12), {"\"w\" begins at byte 4"}));
  EXPECT_TRUE(says(error_of(entry("w", "2", "0,8"), 12), {"tensors end at byte 8", "12 bytes"}));
  EXPECT_TRUE(says(error_of("", 1), {"tensors end at byte 0"}));
  const std::string v = entry("v", "2", "0,8") + ",";
  EXPECT_TRUE(says(error_of(v + entry("w", "2", "4,12"), 12), {"\"w\" begins at byte 4"}));
  EXPECT_TRUE(says(error_of(v + entry("w", "2", "0,8"), 8), {"begins at byte 0"}));
  EXPECT_TRUE(says(error_of(v + entry("w", "2", "12,20"), 20), {"\"w\" begins at byte 12"}));
}

TEST(Safetensors, RefusesShapesThatOverflow) {
  for (const char* shape :
       {"9223372036854775807", "4611686018427387904,4", "4294967296,4294967296",
        "2305843009213693952,8", "1152921504606846976", "0,4294967296,4294967296"}) {
    EXPECT_TRUE(says(error_of(entry("w", shape, "0,0"), 0), {"do not fit its shape"})) << shape;
  }
  EXPECT_EQ(error_of(entry("w", "0,4294967296", "0,0"), 0), "nothing was thrown");
}

TEST(Safetensors, RefusesOtherDTypes) {
  EXPECT_TRUE(says(error_of(R"("w":{"dtype":"I16","shape":[1],"data_offsets":[0,2]})", 2),
                   {"tensor \"w\" has the dtype \"I16\"", "F32, F64"}));
}

/// A file written by the safetensors package of Python.
std::string foreign_file() {
  const float b[] = {1.5f, -2.0f};
  const std::int64_t a[] = {1, 2, 3};
  std::string data(32, '\0');
  std::memcpy(data.data(), a, 24);
  std::memcpy(data.data() + 24, b, 8);
  return with_length(
      R"({"__metadata__":{"format":"np"},"a":{"dtype":"I64","shape":[3],"data_offsets":[0,24]},)"
      R"("b":{"dtype":"F32","shape":[1,2],"data_offsets":[24,32]}} )",
      data);
}

TEST(Safetensors, LoadsFilesOfOtherProgramsWhenAsked) {
  const testing::TemporaryFolder folder;
  const auto path = folder / "foreign.safetensors";
  testing::write_bytes(path, foreign_file());
  const auto device = make_cpu_device(1);
  const Checkpoint loaded = Checkpoint::load(path, *device, Checkpoint::Integrity::any);
  EXPECT_EQ(loaded.tensors.at("a").to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(loaded.tensors.at("b").to_vector<float>(), (std::vector<float>{1.5f, -2.0f}));
  EXPECT_EQ(loaded.get_string("format"), "np");
  EXPECT_TRUE(says(error_text<IoError>([&] { Checkpoint::load(path, *device); }),
                   {path.string(), "does not begin with a checksum"}));
}

TEST(Safetensors, RefusesHostileFiles) {
  const testing::TemporaryFolder folder;
  const auto path = folder / "hostile.safetensors";
  const auto device = make_cpu_device(1);
  const auto text = [&](const std::string& bytes) {
    testing::write_bytes(path, bytes);
    return error_text<IoError>(
        [&] { Checkpoint::load(path, *device, Checkpoint::Integrity::any); });
  };
  EXPECT_TRUE(says(text(std::string(8, '\xff') + "{}"), {"hostile", "18446744073709551615 bytes"}));
  EXPECT_TRUE(says(text(std::string(7, '\0') + "\x80{}"), {"header of 9223372036854775808"}));
  EXPECT_TRUE(says(text(with_length("{} ", "").substr(0, 10)), {"header of 3 bytes"}));
  EXPECT_TRUE(says(text(with_length("", "{}")), {"header, byte 0: expected {"}));
  EXPECT_TRUE(says(text(with_length("{}", "x")), {"has 1 bytes of data"}));
  EXPECT_TRUE(says(
      text(with_length(R"({"m":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})", "\x01\x02")),
      {"tensor \"m\" is BOOL", "neither 0 nor 1"}));
  EXPECT_TRUE(says(
      text(with_length("{" + entry("w", "1152921504606846975", "0,4611686018427387900") + "}", "")),
      {"tensor \"w\" lies at bytes 0 to 4611686018427387900"}));
}

}  // namespace
}  // namespace moiety::nn
