// SPDX-License-Identifier: Apache-2.0
#include "apps/run_directory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>

#include "support/error_text.h"
#include "support/temporary_folder.h"
#include "tensor/error.h"

namespace moiety::apps {
namespace {

using moiety::testing::error_text;
using moiety::testing::read_bytes;
using moiety::testing::says;
using moiety::testing::TemporaryFolder;
using moiety::testing::write_bytes;
using Mode = RunDirectory::Mode;

class RunDirectoryTest : public ::testing::Test {
 protected:
  std::filesystem::path root() const { return folder_ / "run"; }
  RunFiles files() const { return {root()}; }

  /// A run of `steps` lines, one a step.
  void make_run(std::int64_t steps) {
    RunDirectory run(root(), Mode::create);
    run.write_recipe("[data]\n");
    for (std::int64_t step = 1; step <= steps; ++step) run.append_metrics({{"step", step}});
  }

  std::vector<std::int64_t> steps() const {
    std::vector<std::int64_t> found;
    for (const auto& line : read_metrics(files())) found.push_back(line.at("step"));
    return found;
  }

  TemporaryFolder folder_;
};

TEST_F(RunDirectoryTest, RefusesAFolderThatHoldsARun) {
  make_run(1);
  EXPECT_TRUE(says(error_text<UserError>([&] { RunDirectory(root(), Mode::create); }),
                   {root().string(), "--resume"}));
}

TEST_F(RunDirectoryTest, ResumeWantsARun) {
  EXPECT_TRUE(says(error_text<UserError>([&] { RunDirectory(root(), Mode::resume); }),
                   {"no such run directory"}));
  std::filesystem::create_directories(root());
  EXPECT_TRUE(
      says(error_text<UserError>([&] { RunDirectory(root(), Mode::resume); }), {"recipe.toml"}));
}

TEST_F(RunDirectoryTest, RefusesAPathThatIsAFile) {
  write_bytes(root(), "text");
  EXPECT_TRUE(
      says(error_text<UserError>([&] { RunDirectory(root(), Mode::create); }), {root().string()}));
}

TEST_F(RunDirectoryTest, OneTrainingAtATime) {
  make_run(0);
  const RunDirectory first(root(), Mode::resume);
  EXPECT_TRUE(says(error_text<UserError>([&] { RunDirectory(root(), Mode::resume); }),
                   {"another process"}));
}

TEST_F(RunDirectoryTest, AKilledProcessLeavesNoLock) {
  make_run(0);
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const RunDirectory held(root(), Mode::resume);
    const bool told = write(ready[1], "x", 1) == 1;
    while (told) pause();
    _exit(1);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_THROW(RunDirectory(root(), Mode::resume), UserError);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_NO_THROW(RunDirectory(root(), Mode::resume));
  close(ready[0]);
  close(ready[1]);
}

TEST_F(RunDirectoryTest, MetricsAfterTheCheckpointAreDropped) {
  make_run(5);
  RunDirectory run(root(), Mode::resume);
  run.truncate_metrics_after(3);
  EXPECT_EQ(steps(), (std::vector<std::int64_t>{1, 2, 3}));
  run.append_metrics({{"step", 4}});
  EXPECT_EQ(steps(), (std::vector<std::int64_t>{1, 2, 3, 4}));
  run.truncate_metrics_after(0);
  EXPECT_TRUE(steps().empty());
}

TEST_F(RunDirectoryTest, ATornLineIsNotRead) {
  make_run(2);
  const std::string whole = read_bytes(files().metrics());
  write_bytes(files().metrics(), whole + "{\"step\": 3, \"lo");
  EXPECT_EQ(steps(), (std::vector<std::int64_t>{1, 2}));
  RunDirectory run(root(), Mode::resume);
  run.truncate_metrics_after(9);
  run.append_metrics({{"step", 3}});
  EXPECT_EQ(steps(), (std::vector<std::int64_t>{1, 2, 3}));
}

TEST_F(RunDirectoryTest, ADamagedLineIsNamed) {
  make_run(1);
  const std::string whole = read_bytes(files().metrics());
  write_bytes(files().metrics(), whole + "nonsense\n");
  EXPECT_TRUE(says(error_text<IoError>([&] { read_metrics(files()); }), {"metrics.jsonl:2"}));
}

TEST_F(RunDirectoryTest, AFolderInPlaceOfAFileIsNamed) {
  make_run(0);
  std::filesystem::remove(files().metrics());
  std::filesystem::create_directory(files().metrics());
  std::filesystem::create_directory(files().summary());
  EXPECT_TRUE(says(error_text<IoError>([&] { read_metrics(files()); }), {"metrics.jsonl"}));
  EXPECT_TRUE(says(error_text<IoError>([&] { read_summary(files()); }), {"summary.json"}));
}

TEST_F(RunDirectoryTest, AStepThatIsNoNumberIsNamed) {
  make_run(1);
  write_bytes(files().metrics(), "{\"step\": 1}\n{\"step\": \"two\"}\n");
  RunDirectory run(root(), Mode::resume);
  EXPECT_TRUE(says(error_text<IoError>([&] { run.truncate_metrics_after(1); }),
                   {"metrics.jsonl:2", "step"}));
}

TEST_F(RunDirectoryTest, OutputsReplaceNoFileOfTheRun) {
  make_run(1);
  const auto refusal = [&](const std::filesystem::path& output) {
    return error_text<UserError>([&] { check_not_of_run(files(), output, files().report()); });
  };
  write_bytes(files().checkpoints() / "best.ckpt", "x");
  write_bytes(files().report(), "x");
  std::filesystem::create_symlink(files().recipe(), folder_ / "link");
  EXPECT_TRUE(says(refusal(files().metrics()), {"metrics.jsonl", "would be lost"}));
  EXPECT_TRUE(says(refusal(files().checkpoints() / "best.ckpt"), {"best.ckpt"}));
  EXPECT_TRUE(says(refusal(folder_ / "link"), {"link", "a file of the run"}));
  EXPECT_NO_THROW(check_not_of_run(files(), files().report(), files().report()));
  EXPECT_NO_THROW(check_not_of_run(files(), root() / "new.html", files().report()));
}

TEST_F(RunDirectoryTest, KeepsTheNewestCheckpoints) {
  RunDirectory run(root(), Mode::create);
  for (const std::int64_t step : {5, 100, 20, 3000}) {
    write_bytes(checkpoint_path(files(), step), "x");
  }
  write_bytes(files().checkpoints() / "best.ckpt", "x");
  write_bytes(checkpoint_path(files(), 7).string() + ".tmp", "x");
  run.prune_checkpoints(2);
  const auto left = list_checkpoints(files());
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].step, 100);
  EXPECT_EQ(left[1].step, 3000);
  EXPECT_TRUE(std::filesystem::exists(files().checkpoints() / "best.ckpt"));
  EXPECT_FALSE(std::filesystem::exists(checkpoint_path(files(), 7).string() + ".tmp"));
}

TEST_F(RunDirectoryTest, NewestValidCheckpoint) {
  const RunDirectory run(root(), Mode::create);
  EXPECT_FALSE(newest_checkpoint(files(), [](const auto&) { return true; }).has_value());
  for (const std::int64_t step : {1, 2, 3}) write_bytes(checkpoint_path(files(), step), "x");
  const auto second = checkpoint_path(files(), 2);
  const auto found = newest_checkpoint(files(), [&](const auto& path) { return path <= second; });
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->step, 2);
}

TEST_F(RunDirectoryTest, SummaryComesBack) {
  RunDirectory run(root(), Mode::create);
  run.write_summary({{"metrics", {{"test", {{"mae", 0.17}}}}}});
  EXPECT_EQ(read_summary(files())["metrics"]["test"]["mae"], 0.17);
  write_bytes(files().summary(), "{\"metrics\": ");
  EXPECT_TRUE(says(error_text<IoError>([&] { read_summary(files()); }), {"summary.json"}));
  for (const char* text :
       {"[]", "{\"metrics\": 1}", "{\"metrics\": {\"test\": \"good\"}}", "{\"machine\": []}",
        "{\"baseline\": {\"mean\": {\"test\": 3}}}", "{\"metrics\": {\"test\": {\"unit\": 7}}}",
        "{\"metrics\": {\"test\": {\"targets\": {\"gap\": 0.1}}}}"}) {
    write_bytes(files().summary(), text);
    EXPECT_TRUE(says(error_text<IoError>([&] { read_summary(files()); }), {"summary.json"}))
        << text;
  }
}

}  // namespace
}  // namespace moiety::apps
