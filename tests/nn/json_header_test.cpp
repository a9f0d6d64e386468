// SPDX-License-Identifier: Apache-2.0
#include "nn/json_header.h"

#include <gtest/gtest.h>

#include "nn/utf8.h"
#include "support/error_text.h"
#include "tensor/rng.h"

namespace moiety::nn {
namespace {

using testing::error_text;
using testing::says;

std::string error_of(const std::string& text) {
  return error_text<IoError>([&] { parse_json_header(text, "file.safetensors"); });
}

const char* const kWhole =
    R"({"__metadata__":{"step":"7"},"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})";

TEST(JsonHeader, ReadsTensorsAndMetadata) {
  const JsonHeader header = parse_json_header(
      " { \"w\" :\n{\"data_offsets\":[0, 24 ],\t\"shape\":[2,3],\"dtype\":\"F32\"} ,"
      "\"__metadata__\":{\"a\":\"\\\"\\u00e9\\ud83e\\uddea\\n\\/\"}, "
      "\"s\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[24,9223372036854775807]}} \r\n",
      "file");
  EXPECT_EQ(header.metadata.at("a"), "\"\xc3\xa9\xf0\x9f\xa7\xaa\n/");
  EXPECT_EQ(header.tensors.at("w").dtype, "F32");
  EXPECT_EQ(header.tensors.at("w").shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(header.tensors.at("w").end, 24);
  EXPECT_TRUE(header.tensors.at("s").shape.empty());
  EXPECT_EQ(header.tensors.at("s").end, INT64_MAX);
  EXPECT_TRUE(parse_json_header("{}", "file").tensors.empty());
}

TEST(JsonHeader, ReadsWhatItWrites) {
  JsonHeader header;
  EXPECT_EQ(format_json_header(header), R"({"__metadata__":{}})");
  header.metadata["step"] = "7";
  header.tensors["w"] = {"F32", {2, 3}, 0, 24};
  EXPECT_EQ(format_json_header(header), kWhole);
  header.tensors["a\"\\\x01 \xc3\xa9"] = {"U8", {}, 24, 25};
  const JsonHeader back = parse_json_header(format_json_header(header), "file");
  EXPECT_EQ(back.metadata, header.metadata);
  EXPECT_EQ(back.tensors.at("a\"\\\x01 \xc3\xa9").end, 25);
}

struct Hostile {
  const char* text;
  const char* says;
};

const Hostile kHostile[] = {
    {"", "byte 0: expected {"},
    {"[]", "expected {"},
    {"null", "expected {"},
    {"{", "expected \""},
    {"{}x", "behind the header's end"},
    {"{}{}", "behind the header's end"},
    {R"({"w")", "expected :"},
    {R"({"w":{)", "expected \""},
    {R"({"w":{}})", "needs dtype, shape and data_offsets"},
    {R"({"w":{"dtype":"F32","shape":[1]}})", "needs dtype, shape and data_offsets"},
    {R"({"w":{"dtype":"F32","dtype":"F32"}})", "a key comes twice"},
    {R"({"w":{"shape":[],"shape":[]}})", "a key comes twice"},
    {R"({"w":{"strides":[1]}})", "unknown key \"strides\""},
    {R"({"w":{"dtype":7}})", "expected \""},
    {R"({"w":{"shape":[-1]}})", "whole number of 0 or more"},
    {R"({"w":{"shape":[1.5]}})", "expected ]"},
    {R"({"w":{"shape":[1e3]}})", "expected ]"},
    {R"({"w":{"shape":[01]}})", "begins with 0"},
    {R"({"w":{"shape":[0x10]}})", "expected ]"},
    {R"({"w":{"shape":[1,]}})", "whole number"},
    {R"({"w":{"shape":[,1]}})", "whole number"},
    {R"({"w":{"shape":["1"]}})", "whole number"},
    {R"({"w":{"shape":[[1]]}})", "whole number"},
    {R"({"w":{"shape":[1)", "expected ]"},
    {R"({"w":{"shape":[9223372036854775808]}})", "beyond 2^63 - 1"},
    {R"({"w":{"shape":[18446744073709551616]}})", "beyond 2^63 - 1"},
    {R"({"w":{"shape":[1,1,1,1,1,1,1]}})", "more than 6 numbers"},
    {R"({"w":{"data_offsets":[0]}})", "data_offsets needs two"},
    {R"({"w":{"data_offsets":[]}})", "data_offsets needs two"},
    {R"({"w":{"data_offsets":[0,1,2]}})", "more than 2 numbers"},
    {R"({"__metadata__":{"a":1}})", "expected \""},
    {R"({"__metadata__":{"a":"1","a":"2"}})", "metadata \"a\" comes twice"},
    {R"({"__metadata__":{},"__metadata__":{}})", "__metadata__ comes twice"},
    {R"({"__metadata__":[]})", "expected {"},
    {R"({"a":"b"})", "expected {"},
    {R"({'a':{}})", "expected \""},
    {R"({"w":{},})", "needs dtype"},
    {R"({"__metadata__":{},})", "expected \""},
    {"{\"a\nb\":{}}", "control character"},
    {R"({"\x":{}})", "unknown escape"},
    {R"({"\u12":{}})", "hexadecimal"},
    {R"({"\u-123":{}})", "hexadecimal"},
    {R"({"\ud800":{}})", "surrogate"},
    {R"({"\ud800\ud800":{}})", "surrogate"},
    {R"({"\udc00":{}})", "surrogate"},
    {"{\"\\u", "ends within a string"},
    {"{\"abc", "ends too early"},
    {"{\"\xff\":{}}", "not UTF-8"},
    {"{\"\xc0\xaf\":{}}", "not UTF-8"},
    {"{\"\xed\xa0\x80\":{}}", "not UTF-8"},
};

TEST(JsonHeader, RefusesHostileText) {
  for (const Hostile& hostile : kHostile) {
    EXPECT_TRUE(says(error_of(hostile.text), {"file.safetensors: header, byte ", hostile.says}))
        << hostile.text;
  }
  const std::string tensor = R"("w":{"dtype":"F32","shape":[],"data_offsets":[0,4]})";
  EXPECT_TRUE(says(error_of("{" + tensor + "," + tensor + "}"), {"tensor \"w\" comes twice"}));
}

TEST(JsonHeader, RefusesDeepNestingWithoutRecursion) {
  for (const std::string& opening : {std::string("["), std::string("{\"a\":")}) {
    std::string deep;
    for (int i = 0; i < 1'000'000; ++i) deep += opening;
    EXPECT_TRUE(says(error_of(deep), {"header, byte "}));
    EXPECT_TRUE(says(error_of(R"({"__metadata__":{"a":)" + deep), {"expected"}));
    EXPECT_TRUE(says(error_of(R"({"w":{"shape":)" + deep), {"expected"}));
  }
}

/// Random edits of a valid header are read or refused with IoError, and what is read can be
/// written and read again.
TEST(JsonHeader, SurvivesRandomEdits) {
  const std::string alphabet = "{}[]\",:\\u0123456789-.eE \n\xc3\xa9\xff" + std::string(1, '\0');
  int accepted = 0;
  for (std::uint64_t trial = 0; trial < 5000; ++trial) {
    std::string text = kWhole;
    for (std::uint64_t edit = 0; edit < 1 + trial % 3; ++edit) {
      const auto draw = [&](std::uint64_t number, std::uint64_t bound) {
        return random_below({.seed = 11, .stream = trial}, 3 * edit + number, bound);
      };
      const std::size_t at = draw(0, text.size());
      const char c = alphabet[draw(1, alphabet.size())];
      const std::uint64_t kind = draw(2, 3);
      if (kind == 0) text[at] = c;
      if (kind == 1) text.insert(at, 1, c);
      if (kind == 2) text.erase(at, 1);
    }
    try {
      const JsonHeader header = parse_json_header(text, "file");
      EXPECT_EQ(parse_json_header(format_json_header(header), "file").metadata, header.metadata);
      ++accepted;
    } catch (const IoError&) {
    }
  }
  EXPECT_GT(accepted, 50);
  EXPECT_LT(accepted, 2500);
}

TEST(Utf8, AcceptsWellFormedTextOnly) {
  for (const char* good :
       {"", "abc", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
        "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(is_utf8(good)) << good;
  }
  for (const char* bad :
       {"\x80", "\xc1\x80", "\xc2", "\xc2\xc2", "\xe0\x80\x80", "\xe0\xa0", "\xed\xa0\x80",
        "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xff"}) {
    EXPECT_FALSE(is_utf8(bad));
  }
  for (const char32_t point : {0x0, 0x7f, 0x80, 0x7ff, 0x800, 0xffff, 0x10000, 0x10ffff}) {
    std::string text;
    append_utf8(text, point);
    EXPECT_TRUE(is_utf8(text)) << static_cast<std::uint32_t>(point);
  }
}

}  // namespace
}  // namespace moiety::nn
