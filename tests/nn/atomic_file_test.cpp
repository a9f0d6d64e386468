// SPDX-License-Identifier: Apache-2.0
#include "nn/atomic_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "nn/checkpoint.h"
#include "support/error_text.h"
#include "support/temporary_folder.h"

namespace moiety::nn {
namespace {

using testing::error_text;
using testing::read_bytes;
using testing::says;
using testing::TemporaryFolder;
using testing::write_bytes;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

TEST(AtomicFile, TakesItsPlaceAtCommit) {
  const TemporaryFolder folder;
  const auto path = folder / "file";
  write_bytes(path, "old");
  AtomicFile file(path);
  file.write(bytes_of("ne"));
  file.write(bytes_of("w"));
  EXPECT_EQ(read_bytes(path), "old");
  file.commit();
  EXPECT_EQ(read_bytes(path), "new");
  EXPECT_FALSE(std::filesystem::exists(folder / "file.tmp"));
}

TEST(AtomicFile, LeavesNothingBehindWithoutCommit) {
  const TemporaryFolder folder;
  const auto path = folder / "file";
  write_bytes(path, "old");
  AtomicFile(path).write(bytes_of("new"));
  EXPECT_EQ(read_bytes(path), "old");
  EXPECT_FALSE(std::filesystem::exists(folder / "file.tmp"));
}

TEST(AtomicFile, OverwritesTheLeftoverOfAnInterruptedWriter) {
  const TemporaryFolder folder;
  const auto path = folder / "file";
  write_bytes(folder / "file.tmp", "a long leftover");
  AtomicFile file(path);
  file.write(bytes_of("new"));
  file.commit();
  EXPECT_EQ(read_bytes(path), "new");
  EXPECT_FALSE(std::filesystem::exists(folder / "file.tmp"));
}

TEST(AtomicFile, NamesThePathThatCannotBeWritten) {
  const TemporaryFolder folder;
  EXPECT_TRUE(says(error_text<IoError>([&] { AtomicFile(folder / "no/such/folder/file"); }),
                   {"cannot create", "no/such/folder/file"}));
  std::filesystem::create_directories(folder / "taken/inside");
  EXPECT_TRUE(says(error_text<UserError>([&] { AtomicFile(folder / "taken").commit(); }),
                   {"taken", "is a folder"}));
  EXPECT_FALSE(std::filesystem::exists(folder / "taken.tmp"));
}

TEST(AtomicFile, WritesThroughASymbolicLink) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "elsewhere");
  write_bytes(folder / "elsewhere/file", "old");
  std::filesystem::create_symlink("elsewhere/file", folder / "link");
  AtomicFile file(folder / "link");
  file.write(bytes_of("new"));
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_bytes(folder / "elsewhere/file"), "new");
}

TEST(AtomicFile, NamesAFullDisk) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("/dev/full", folder / "file.tmp");
  EXPECT_TRUE(says(error_text<IoError>([&] { AtomicFile(folder / "file").write(bytes_of("x")); }),
                   {"cannot write", "No space left"}));
  EXPECT_FALSE(std::filesystem::exists(folder / "file"));
}

/// Saves for ever, the step as state and in every element, until the process is killed.
[[noreturn]] void save_for_ever(const std::filesystem::path& path, Device& device) {
  for (std::int64_t step = 1;; ++step) {
    Checkpoint checkpoint;
    const std::vector<std::int64_t> values(20000, step);
    checkpoint.tensors["weight"] = Tensor::from(values, {20000}, device);
    checkpoint.set_i64("step", step);
    checkpoint.save(path);
  }
}

TEST(CheckpointSave, KilledAtAnyMomentLeavesAWholeFile) {
  const TemporaryFolder folder;
  const auto path = folder / "model.safetensors";
  const std::unique_ptr<Device> device = make_cpu_device(1);
  std::int64_t last = 0;
  for (int kill_number = 0; kill_number < 20; ++kill_number) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) save_for_ever(path, *device);
    std::this_thread::sleep_for(std::chrono::microseconds(10000 + 1237 * kill_number));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    if (!std::filesystem::exists(path)) continue;
    const Checkpoint loaded = Checkpoint::load(path, *device);
    last = loaded.get_i64("step");
    const std::vector<std::int64_t> expected(20000, last);
    ASSERT_EQ(loaded.tensors.at("weight").to_vector<std::int64_t>(), expected);
  }
  EXPECT_GT(last, 0) << "no checkpoint was ever written";
}

}  // namespace
}  // namespace moiety::nn
