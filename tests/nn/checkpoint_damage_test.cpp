// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "nn/checkpoint.h"
#include "support/error_text.h"
#include "support/temporary_folder.h"
#include "tensor/rng.h"

namespace moiety::nn {
namespace {

constexpr int kTrials = 600;

/// Damages a checkpoint in many ways and expects each to be refused by an IoError with the file's
/// name, however the file is opened.
class CheckpointDamage : public ::testing::TestWithParam<Checkpoint::Integrity> {
 protected:
  CheckpointDamage() {
    Checkpoint checkpoint;
    checkpoint.tensors["model.weight"] =
        Tensor::from<float>({0.5f, 1.5f, -2.5f, 3.5f, 0, 1}, {3, 2}, *device_);
    checkpoint.tensors["model.mask"] = Tensor::zeros({7}, DType::boolean, *device_);
    checkpoint.tensors["moments"] = Tensor::zeros({40}, DType::f64, *device_);
    checkpoint.set_f64("loss", 0.1);
    checkpoint.set_string("recipe", "[train]\nlr = \"1e-3\"\n");
    checkpoint.save(path_);
    whole_ = testing::read_bytes(path_);
  }

  void expect_refused(const std::string& bytes, const std::string& what) {
    testing::write_bytes(path_, bytes);
    const std::string text =
        testing::error_text<IoError>([&] { Checkpoint::load(path_, *device_, GetParam()); });
    EXPECT_TRUE(testing::says(text, {path_.string()})) << what;
  }

  std::uint64_t draw(int trial, std::uint64_t bound) const {
    return random_below({.seed = 7, .stream = 1}, static_cast<std::uint64_t>(trial), bound);
  }

  std::unique_ptr<Device> device_ = make_cpu_device(1);
  testing::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "damaged.safetensors";
  std::string whole_;
};

TEST_P(CheckpointDamage, EveryTruncationIsRefused) {
  for (std::size_t length = 0; length < whole_.size(); ++length) {
    expect_refused(whole_.substr(0, length), "truncated to " + std::to_string(length));
  }
}

TEST_P(CheckpointDamage, FlippedBitsAreRefused) {
  for (int trial = 0; trial < kTrials; ++trial) {
    const std::uint64_t bit = draw(trial, whole_.size() * 8);
    std::string bytes = whole_;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    expect_refused(bytes, "bit " + std::to_string(bit));
  }
}

TEST_P(CheckpointDamage, OverwrittenBytesAreRefused) {
  for (int trial = 0; trial < kTrials; ++trial) {
    std::string bytes = whole_;
    const std::uint64_t length = 1 + draw(trial, 64);
    const std::uint64_t begin = draw(trial + kTrials, bytes.size() - length);
    const auto value = static_cast<char>(draw(trial + 2 * kTrials, 256));
    bytes.replace(begin, length, std::string(length, value));
    if (bytes != whole_) expect_refused(bytes, "bytes from " + std::to_string(begin));
  }
}

TEST_P(CheckpointDamage, InsertedRemovedAndAppendedBytesAreRefused) {
  for (int trial = 0; trial < kTrials; ++trial) {
    const std::uint64_t at = draw(trial, whole_.size());
    std::string inserted = whole_;
    inserted.insert(at, 1, static_cast<char>(draw(trial + kTrials, 256)));
    expect_refused(inserted, "byte inserted at " + std::to_string(at));
    std::string removed = whole_;
    removed.erase(at, 1);
    expect_refused(removed, "byte removed at " + std::to_string(at));
  }
  expect_refused(whole_ + '\0', "a byte appended");
  expect_refused(whole_ + whole_, "the file twice");
}

TEST_P(CheckpointDamage, DamagedTensorsAreNamed) {
  std::string bytes = whole_;
  bytes.back() = 1;  // the mask lies last: one byte an element
  testing::write_bytes(path_, bytes);
  const std::string text =
      testing::error_text<IoError>([&] { Checkpoint::load(path_, *device_, GetParam()); });
  EXPECT_TRUE(testing::says(text, {"tensor \"model.mask\" does not have its checksum"}));
}

INSTANTIATE_TEST_SUITE_P(Integrity, CheckpointDamage,
                         ::testing::Values(Checkpoint::Integrity::checked,
                                           Checkpoint::Integrity::any));

}  // namespace
}  // namespace moiety::nn
