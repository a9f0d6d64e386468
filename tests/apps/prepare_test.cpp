// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/commands.h"
#include "data/dataset.h"
#include "support/error_text.h"
#include "support/temporary_folder.h"
#include "support/token_files.h"

namespace moiety::apps {
namespace {

using namespace moiety::testing;  // NOLINT: helpers of the tests

class PrepareCommand : public ::testing::Test {
 protected:
  PrepareCommand() {
    std::string content = "smiles,gap_ev,mu\n";
    for (int i = 1; i <= 30; ++i) {
      content += std::string(static_cast<std::size_t>(i), 'C') + "," + std::to_string(i) + ",1\n";
    }
    write_bytes(folder_ / "m.csv", content);
  }

  /// moiety prepare m.csv -o m.h5 FLAGS.
  void run(std::vector<std::string> flags) {
    CLI::App app;
    add_prepare(app);
    flags.insert(flags.begin(), {"prepare", folder_ / "m.csv", "-o", folder_ / "m.h5"});
    std::reverse(flags.begin(), flags.end());  // CLI11 takes them from the back
    app.parse(flags);
  }
  std::string refusal(const std::vector<std::string>& flags) {
    return error_text<UserError>([&] { run(flags); });
  }
  TemporaryFolder folder_;
};

TEST_F(PrepareCommand, WritesADataSet) {
  run({"--target", "gap_ev,mu", "--seed", "3", "--threads", "1"});
  const data::Dataset dataset((folder_ / "m.h5").string());
  EXPECT_EQ(dataset.size(), 30);
  EXPECT_EQ(dataset.info().targets[0].unit, "eV") << "from the column's name";
  EXPECT_EQ(dataset.info().targets[1].unit, "");
  EXPECT_EQ(dataset.info().test, 3);
}

TEST_F(PrepareCommand, UnitsAsGiven) {
  run({"--target", "gap_ev,mu", "--unit", "meV,debye"});
  const data::Dataset dataset((folder_ / "m.h5").string());
  EXPECT_EQ(dataset.info().targets[0].unit, "meV");
  EXPECT_EQ(dataset.info().targets[1].unit, "debye");
  EXPECT_TRUE(says(refusal({"--target", "gap_ev,mu", "--unit", "eV"}), {"1 units for 2"}));
}

TEST_F(PrepareCommand, TargetsDoNotSwallowSources) {
  CLI::App app;
  add_prepare(app);
  std::vector<std::string> words = {"prepare",  "-o", folder_ / "m.h5",
                                    "--target", "mu", folder_ / "m.csv"};
  std::reverse(words.begin(), words.end());
  app.parse(words);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "m.h5"));
}

TEST_F(PrepareCommand, MistakesAreNamedWithARemedy) {
  EXPECT_TRUE(says(refusal({"--target", "gap"}), {"m.csv", "'gap'"}));
  EXPECT_TRUE(says(refusal({"--target", "gapev"}), {"did you mean 'gap_ev'?"}));
  EXPECT_TRUE(says(refusal({"--target", "mu", "--task", "mlm"}), {"mlm", "no --target"}));
  EXPECT_TRUE(says(refusal({"--task", "causl"}), {"did you mean 'causal'?"}));
  EXPECT_TRUE(says(refusal({"--task", "mlm", "--tokenizer", "none"}), {"none is no folder"}));
  EXPECT_TRUE(
      says(refusal({"--target", "mu", "--task", "regresion"}), {"did you mean 'regression'?"}));
  EXPECT_TRUE(says(refusal({"--target", "mu", "--split", "randm"}), {"did you mean 'random'?"}));
  EXPECT_TRUE(says(refusal({"--target", "mu", "--split", "column"}), {"no column 'split'"}));
  EXPECT_TRUE(says(refusal({"--target", "mu", "--delimiter", "dot"}), {"--delimiter dot"}));
  for (const char* seed : {"-1", "18446744073709551616", "1.5", "x"}) {
    EXPECT_TRUE(says(refusal({"--target", "mu", "--seed", seed}), {"--seed", seed}));
  }
}

TEST_F(PrepareCommand, WarnsOfWhatTrainingWillNotLike) {
  const auto screen = [&](const std::vector<std::string>& flags) {
    ::testing::internal::CaptureStdout();
    run(flags);
    return ::testing::internal::GetCapturedStdout();
  };
  EXPECT_EQ(screen({"--target", "gap_ev"}).find("warning"), std::string::npos);
  EXPECT_EQ(screen({"--target", "mu", "--task", "binary", "--overwrite"}).find("warning"),
            std::string::npos);
  std::string twice = "smiles,gap_ev\n";
  for (int i = 0; i < 40; ++i) twice += i % 2 == 0 ? "OCC,1\n" : "CCO,2\n";
  write_bytes(folder_ / "m.csv", twice);
  EXPECT_TRUE(says(screen({"--target", "gap_ev", "--overwrite"}),
                   {"warning: 4 of the 4 test molecules occur in train", "--split scaffold"}));
}

/// moiety prepare of the molecules of the tests.
class PrepareTokens : public PrepareCommand {
 protected:
  PrepareTokens() {
    std::string content = "smiles,active\n";
    for (std::size_t i = 0; i < some_smiles().size(); ++i) {
      content += some_smiles()[i] + "," + std::to_string(i % 2) + "\n";
    }
    write_bytes(folder_ / "m.csv", content);
  }
  std::string screen(std::vector<std::string> flags) {
    flags.push_back("--overwrite");
    ::testing::internal::CaptureStdout();
    run(flags);
    return ::testing::internal::GetCapturedStdout();
  }
};

TEST_F(PrepareTokens, OneCommandMakesALanguageModelsData) {
  for (const char* task : {"mlm", "causal"}) {
    EXPECT_TRUE(says(screen({"--task", task}), {"30 molecules", "train 26, valid 2, test 2",
                                                "words were learned", ": C c ", "at most"}));
    const data::Dataset dataset((folder_ / "m.h5").string());
    EXPECT_FALSE(dataset.info().has_graphs);
    EXPECT_TRUE(dataset.info().has_tokens);
    EXPECT_TRUE(dataset.info().targets.empty());
  }
}

TEST_F(PrepareTokens, ATokenizerStandsBesideTargets) {
  words_of({"CCO", "c1ccccc1", "N(=O)"})->save(folder_ / "words");
  const std::string said =
      screen({"--target", "active", "--task", "binary", "--tokenizer", folder_ / "words"});
  EXPECT_TRUE(says(said, {"warning:", "does not know; the first: m.csv:3: '2'\n"}));
  const data::Dataset dataset((folder_ / "m.h5").string());
  EXPECT_TRUE(dataset.info().has_graphs);
  EXPECT_TRUE(dataset.info().has_tokens);
  EXPECT_EQ(dataset.info().targets[0].task, "binary");
}

TEST_F(PrepareCommand, OverwritesOnlyWhenTold) {
  run({"--target", "mu"});
  EXPECT_TRUE(says(refusal({"--target", "mu"}), {"m.h5", "exists"}));
  run({"--target", "gap_ev", "--overwrite"});
}

}  // namespace
}  // namespace moiety::apps
