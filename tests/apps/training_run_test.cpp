// SPDX-License-Identifier: Apache-2.0
#include "apps/training_run.h"

#include <gtest/gtest.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/commands.h"
#include "apps/run_directory.h"
#include "data/prepare.h"
#include "support/error_text.h"
#include "support/temporary_folder.h"

namespace moiety::apps {
namespace {

using moiety::testing::error_text;
using moiety::testing::says;
using moiety::testing::TemporaryFolder;
using moiety::testing::write_bytes;

/// A data set of 40 chains with two targets, and a training of one epoch.
class TrainingRun : public ::testing::Test {
 protected:
  TrainingRun() {
    std::string content = "smiles,size,mu\n";
    for (int i = 1; i <= 40; ++i) {
      content += std::string(static_cast<std::size_t>(i), 'C') + "," + std::to_string(i) + ",1\n";
    }
    write_bytes(folder_ / "m.csv", content);
    data::PrepareOptions options;
    options.sources = {folder_ / "m.csv"};
    options.output = folder_ / "m.h5";
    options.targets = {{"size", "atoms", "regression"}, {"mu", "debye", "regression"}};
    data::prepare(options);
    recipe_.data.path = options.output.string();
    recipe_.model.hidden = 8;
    recipe_.model.layers = 1;
    recipe_.train.epochs = 1;
    recipe_.run.threads = 1;
    recipe_.run.device = "cpu";
  }

  /// What it prints.
  std::string train() {
    ::testing::internal::CaptureStdout();
    run_training(recipe_, folder_ / "run", /*resume=*/false);
    return ::testing::internal::GetCapturedStdout();
  }

  TemporaryFolder folder_;
  Recipe recipe_;
};

TEST_F(TrainingRun, NamesTheTargetsThatAreLeftAlone) {
  recipe_.data.target = {"size"};
  EXPECT_TRUE(says(train(), {"training on size;", "also has mu", "atoms"}));
}

TEST_F(TrainingRun, SaysWhatMemoryItTook) {
  EXPECT_TRUE(says(train(), {"\nmemory: peak ", "B of ", " on cpu; the program "}));
  const nlohmann::json memory = read_summary(RunFiles{folder_ / "run"})["memory"];
  EXPECT_GT(memory["peak_bytes"], 1000);
  EXPECT_GE(memory["reserved_bytes"], memory["peak_bytes"]);
  EXPECT_GT(memory["resident_bytes"], memory["peak_bytes"]);
  EXPECT_GT(memory["device_bytes"], memory["resident_bytes"]);
}

TEST_F(TrainingRun, EachTargetHasItsRow) {
  const std::string screen = train();
  EXPECT_EQ(screen.find("training on"), std::string::npos) << "all are used";
  EXPECT_TRUE(says(screen, {"target", "size", "atoms", "mu", "debye"}));
}

TEST_F(TrainingRun, ResumeNamesTheKeysThatDiffer) {
  train();
  recipe_.train.lr = 0.5;
  recipe_.run.threads = 2;
  const std::string refusal =
      error_text<UserError>([&] { run_training(recipe_, folder_ / "run", /*resume=*/true); });
  EXPECT_TRUE(says(refusal, {"train.lr 0.001 -> 0.5", "recipe.toml"}));
  EXPECT_EQ(refusal.find("threads"), std::string::npos) << "may change";
}

TEST_F(TrainingRun, ADataSetThatIsNotThereIsLookedForByName) {
  recipe_.data.path = "data/absent.h5";
  EXPECT_TRUE(says(error_text<UserError>([&] { run_training(recipe_, folder_ / "run", false); }),
                   {"data/absent.h5", (std::filesystem::current_path() / "data/absent.h5").string(),
                    "moiety prepare"}));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run"));
}

TEST_F(TrainingRun, PredictionCountsItsRows) {
  train();
  write_bytes(folder_ / "new.csv", "smiles\nCCO\nC1CC\nCN\nXX\n");
  CLI::App app;
  add_predict(app);
  std::vector<std::string> words = {"predict", folder_ / "run", folder_ / "new.csv", "-o",
                                    folder_ / "out.csv"};
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  ::testing::internal::CaptureStdout();
  app.parse(words);
  EXPECT_TRUE(says(::testing::internal::GetCapturedStdout(),
                   {"4 rows: 2 predicted, 2 without a prediction"}));
}

}  // namespace
}  // namespace moiety::apps
