// SPDX-License-Identifier: Apache-2.0
#include "nn/checkpoint.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "support/error_text.h"
#include "support/temporary_folder.h"

namespace moiety::nn {
namespace {

using testing::error_text;
using testing::says;
using testing::TemporaryFolder;

/// The elements as bytes, to compare any dtype bit by bit.
std::string bits_of(const Tensor& tensor) {
  const Tensor contiguous = tensor.contiguous_copy();
  return {static_cast<const char*>(contiguous.raw_data()), contiguous.bytes()};
}

class CheckpointTest : public ::testing::Test {
 protected:
  Checkpoint saved_and_loaded(const Checkpoint& checkpoint) {
    checkpoint.save(path());
    return Checkpoint::load(path(), *device_);
  }
  std::filesystem::path path() const { return folder_ / "model.safetensors"; }

  std::unique_ptr<Device> device_ = make_cpu_device(1);
  TemporaryFolder folder_;
};

TEST_F(CheckpointTest, KeepsTensorsOfEveryDType) {
  Checkpoint checkpoint;
  auto& tensors = checkpoint.tensors;
  tensors["f32"] = Tensor::from<float>({1.5f, -0.0f, std::nanf("7"), 1e-40f}, {2, 2}, *device_);
  tensors["f64"] = Tensor::from<double>({0.1, std::numeric_limits<double>::max()}, {2}, *device_);
  tensors["bf16"] = Tensor::from<BFloat16>({{0x3f80}, {0xffff}, {0x0001}}, {3, 1}, *device_);
  tensors["f16"] = Tensor::from<Float16>({{0x7c01}, {0x3c00}, {0x8000}}, {1, 3}, *device_);
  tensors["i64"] =
      Tensor::from<std::int64_t>({std::numeric_limits<std::int64_t>::min(), 7}, {2}, *device_);
  tensors["i32"] = Tensor::from<std::int32_t>({-1, 2, 3}, {3}, *device_);
  tensors["u8"] = Tensor::from<std::uint8_t>({0, 255, 1}, {3}, *device_);
  tensors["bool"] = Tensor::zeros({5}, DType::boolean, *device_);
  tensors["bool"].data<bool>()[3] = true;
  tensors["scalar"] = Tensor::from<float>({3.0f}, {}, *device_);
  tensors["empty"] = Tensor::empty({3, 0, 2}, DType::f32, *device_);
  const Checkpoint loaded = saved_and_loaded(checkpoint);
  ASSERT_EQ(loaded.tensors.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    const Tensor& other = loaded.tensors.at(name);
    EXPECT_EQ(other.dtype(), tensor.dtype()) << name;
    EXPECT_EQ(other.shape(), tensor.shape()) << name;
    EXPECT_EQ(bits_of(other), bits_of(tensor)) << name;
  }
}

TEST_F(CheckpointTest, SavesStridedTensorsInOrder) {
  Checkpoint checkpoint;
  const Tensor matrix = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3}, *device_);
  checkpoint.tensors["t"] = matrix.transpose(0, 1);
  checkpoint.tensors["column"] = matrix.slice(1, 1, 2);
  const Checkpoint loaded = saved_and_loaded(checkpoint);
  EXPECT_EQ(loaded.tensors.at("t").to_vector<float>(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(loaded.tensors.at("column").to_vector<float>(), (std::vector<float>{2, 5}));
}

TEST_F(CheckpointTest, KeepsEveryBitOfNumbers) {
  const std::uint64_t patterns[] = {
      0,  // and the numbers whose decimal form is the hardest to get right
      0x8000000000000000u,
      1u,
      0x000fffffffffffffu,
      0x0010000000000000u,
      0x7fefffffffffffffu,
      0x3fb999999999999au,
      0x3ff0000000000001u,
      0x4340000000000001u,
      0x7ff0000000000000u,
      0xfff0000000000000u,
      0x7ff8000000000000u,
      0xfff8000000000123u,
      0x7ff0000000000001u};
  Checkpoint checkpoint;
  for (const std::uint64_t bits : patterns) {
    checkpoint.set_f64("f" + std::to_string(bits), std::bit_cast<double>(bits));
    checkpoint.set_u64("u" + std::to_string(bits), bits);
    checkpoint.set_i64("i" + std::to_string(bits), static_cast<std::int64_t>(bits));
  }
  const Checkpoint loaded = saved_and_loaded(checkpoint);
  for (const std::uint64_t bits : patterns) {
    const double value = loaded.get_f64("f" + std::to_string(bits));
    EXPECT_EQ(std::bit_cast<std::uint64_t>(value), bits);
    EXPECT_EQ(loaded.get_u64("u" + std::to_string(bits)), bits);
    EXPECT_EQ(loaded.get_i64("i" + std::to_string(bits)), static_cast<std::int64_t>(bits));
  }
}

TEST_F(CheckpointTest, KeepsAnyText) {
  using namespace std::string_literals;
  const std::string text =
      "\"quotes\" \\ / \b\f\n\r\t \x01\x1f\x7f \0 \xc3\xa9 \xf0\x9f\xa7\xaa end"s;
  Checkpoint checkpoint;
  checkpoint.set_string("text", text);
  checkpoint.set_string("", "an empty name");
  checkpoint.set_string("a name with \"quotes\"\n", "");
  checkpoint.set_bool("yes", true);
  checkpoint.set_bool("no", false);
  const Checkpoint loaded = saved_and_loaded(checkpoint);
  EXPECT_EQ(loaded.state, checkpoint.state);
  EXPECT_EQ(loaded.get_string("text"), text);
  EXPECT_TRUE(loaded.get_bool("yes"));
  EXPECT_FALSE(loaded.get_bool("no"));
}

TEST_F(CheckpointTest, AnEmptyOneIsAFileToo) {
  const Checkpoint loaded = saved_and_loaded({});
  EXPECT_TRUE(loaded.tensors.empty());
  EXPECT_TRUE(loaded.state.empty());
}

TEST_F(CheckpointTest, WritesTheSameBytesTwice) {
  Checkpoint checkpoint;
  checkpoint.tensors["a"] = Tensor::from<float>({1, 2}, {2}, *device_);
  checkpoint.set_i64("step", 3);
  checkpoint.save(folder_ / "one");
  checkpoint.save(folder_ / "two");
  EXPECT_EQ(testing::read_bytes(folder_ / "one"), testing::read_bytes(folder_ / "two"));
}

TEST_F(CheckpointTest, NamesWhatIsMissingOrOfAnotherType) {
  Checkpoint checkpoint;
  checkpoint.set_string("word", "seven");
  checkpoint.set_i64("negative", -1);
  checkpoint.set_string("huge", "99999999999999999999999");
  const Checkpoint loaded = saved_and_loaded(checkpoint);
  const auto text = [](const auto& f) { return error_text<IoError>(f); };
  EXPECT_TRUE(
      says(text([&] { loaded.get_i64("step"); }), {path().string(), "there is no \"step\""}));
  EXPECT_TRUE(says(text([&] { loaded.get_i64("word"); }), {"\"word\" should be a whole number"}));
  EXPECT_TRUE(says(text([&] { loaded.get_f64("word"); }), {"should be a number, but is"}));
  EXPECT_TRUE(says(text([&] { loaded.get_bool("word"); }), {"should be true or false"}));
  EXPECT_TRUE(says(text([&] { loaded.get_u64("negative"); }), {"of 0 or more"}));
  EXPECT_TRUE(says(text([&] { loaded.get_i64("huge"); }), {"should be a whole number"}));
}

TEST_F(CheckpointTest, RefusesWhatItCannotSave) {
  const auto text = [&](const Checkpoint& c) { return error_text([&] { c.save(path()); }); };
  Checkpoint reserved;
  reserved.set_string("moiety.format", "2");
  EXPECT_TRUE(says(text(reserved), {"no state may be named \"moiety.format\""}));
  Checkpoint metadata;
  metadata.tensors["__metadata__"] = Tensor::zeros({1}, DType::f32, *device_);
  EXPECT_TRUE(says(text(metadata), {"no tensor may be named \"__metadata__\""}));
  Checkpoint undefined;
  undefined.tensors["weight"] = {};
  EXPECT_TRUE(says(text(undefined), {"tensor \"weight\" is undefined"}));
  Checkpoint latin1;
  latin1.set_string("name", "caf\xe9");
  EXPECT_TRUE(says(text(latin1), {"not UTF-8"}));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(CheckpointTest, NamesFilesThatCannotBeRead) {
  const auto text = [&](const std::filesystem::path& p) {
    return error_text<IoError>([&] { Checkpoint::load(p, *device_); });
  };
  EXPECT_TRUE(says(text(folder_ / "none"), {"cannot open", "none"}));
  EXPECT_TRUE(says(text(folder_.path()), {"is not a file"}));
  testing::write_bytes(path(), "");
  EXPECT_TRUE(says(text(path()), {path().string(), "only 0 bytes"}));
  testing::write_bytes(path(), "PK\x03\x04 this is a zip file");
  EXPECT_TRUE(says(text(path()), {"no safetensors file"}));
}

}  // namespace
}  // namespace moiety::nn
