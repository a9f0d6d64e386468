// SPDX-License-Identifier: Apache-2.0
#include "apps/resume.h"

#include <gtest/gtest.h>

#include "apps/run_results.h"
#include "apps/training_run.h"
#include "support/error_text.h"
#include "support/toy_training.h"

namespace moiety::apps {
namespace {

namespace fs = std::filesystem;
using testing::error_text;
using testing::read_bytes;
using testing::says;
using testing::write_bytes;

/// A run of 4 steps, validated after each second one, of which each checkpoint is kept.
class Resume : public ::testing::Test {
 protected:
  Resume() {
    recipe_ = testing::toy_recipe(testing::make_toy_dataset(folder_));
    recipe_.train.max_steps = 4;
    recipe_.run.threads = 1;
    recipe_.run.validate_every = {2, Span::Unit::steps};
    recipe_.run.checkpoint_every = {2, Span::Unit::steps};
    train(/*resume=*/false);
  }

  /// What it prints.
  std::string train(bool resume) {
    ::testing::internal::CaptureStdout();
    try {
      run_training(recipe_, files_.root, resume);
    } catch (...) {
      ::testing::internal::GetCapturedStdout();
      throw;
    }
    return ::testing::internal::GetCapturedStdout();
  }
  template <class E>
  std::string refusal() {
    return error_text<E>([&] { train(/*resume=*/true); });
  }
  /// As after a kill at step 2.
  void forget_the_last_checkpoint() { fs::remove(checkpoint_path(files_, 4)); }

  testing::TemporaryFolder folder_;
  RunFiles files_{folder_ / "run"};
  Recipe recipe_;
};

TEST_F(Resume, RefusesAnotherDataSetAtTheSamePlace) {
  forget_the_last_checkpoint();
  const std::string metrics = read_bytes(files_.metrics());
  testing::make_toy_dataset(folder_, [](std::int64_t, double atoms) { return -atoms; });
  EXPECT_TRUE(says(refusal<UserError>(), {"toy.h5 is not the data set"}));
  EXPECT_EQ(read_bytes(files_.metrics()), metrics) << "nothing is lost";
}

TEST_F(Resume, PassesOverADamagedCheckpoint) {
  write_bytes(checkpoint_path(files_, 4), "damaged");
  EXPECT_TRUE(says(train(/*resume=*/true), {"step_000000004.ckpt", "resuming at step 2"}));
}

TEST_F(Resume, RefusesARunWhoseCheckpointsAreAllDamaged) {
  for (const auto& file : list_checkpoints(files_)) write_bytes(file.path, "damaged");
  EXPECT_TRUE(says(refusal<IoError>(), {"step_000000002.ckpt", "step_000000004.ckpt"}));
}

TEST_F(Resume, BeginsAnewWithoutCheckpoints) {
  for (const auto& file : list_checkpoints(files_)) fs::remove(file.path);
  EXPECT_TRUE(says(train(/*resume=*/true), {"warning", "starting at step 0"}));
}

TEST_F(Resume, LostBestWeightsAreWrittenAgain) {
  forget_the_last_checkpoint();
  const std::string best = read_bytes(best_model_path(files_));
  fs::remove(best_model_path(files_));
  EXPECT_TRUE(says(train(/*resume=*/true), {"warning", "best.ckpt", "next better validation"}));
  EXPECT_TRUE(read_bytes(best_model_path(files_)) == best);
}

TEST_F(Resume, BestWeightsOfAFinishedTrainingAreMissed) {
  fs::remove(best_model_path(files_));
  EXPECT_TRUE(says(refusal<IoError>(), {"best.ckpt", "No such file", "last.ckpt"}));
  write_bytes(best_model_path(files_), "damaged by a disk");
  EXPECT_TRUE(says(refusal<IoError>(), {"best.ckpt", "last.ckpt"}));
}

}  // namespace
}  // namespace moiety::apps
