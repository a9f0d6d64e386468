// SPDX-License-Identifier: Apache-2.0
#include "apps/predictions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "apps/metrics.h"
#include "apps/prediction_table.h"
#include "support/error_text.h"
#include "support/temporary_folder.h"
#include "tensor/error.h"

namespace moiety::apps {
namespace {

using moiety::testing::error_text;
using moiety::testing::says;
using moiety::testing::TemporaryFolder;
using moiety::testing::write_bytes;

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

Predictions read_back(const Predictions& predictions) {
  const TemporaryFolder folder;
  write_bytes(folder / "p.csv", to_csv(predictions));
  return read_predictions(folder / "p.csv");
}

TEST(Predictions, OneTargetAsCsv) {
  const Predictions one{{"gap"}, {"m1", "m2"}, {"CCO", "c1ccccc1"}, {7.5, kMissing}, {7.25, 4.5}};
  EXPECT_EQ(to_csv(one), "id,smiles,target,prediction\nm1,CCO,7.5,7.25\nm2,c1ccccc1,,4.5\n");
}

TEST(Predictions, QuotesAndSeveralTargetsComeBack) {
  const Predictions out{{"gap, eV", "dipole"},
                        {"a,b", "say \"hi\"", "two\nlines"},
                        {"CCO", "C[C@H](O)N", ""},
                        {1, 2, kMissing, 4, 5, -6e-7},
                        {1.5, 2.5, 3.5, 4.5, 5.5, 6.5}};
  const Predictions in = read_back(out);
  EXPECT_EQ(in.targets, out.targets);
  EXPECT_EQ(in.id, out.id);
  EXPECT_EQ(in.smiles, out.smiles);
  EXPECT_EQ(in.prediction, out.prediction);
  EXPECT_TRUE(std::isnan(in.truth[2]));
  EXPECT_EQ(in.truth[5], -6e-7);
}

TEST(Predictions, DamageIsNamed) {
  const TemporaryFolder folder;
  const auto message = [&](const std::string& text) {
    write_bytes(folder / "p.csv", text);
    return error_text<UserError>([&] { read_predictions(folder / "p.csv"); });
  };
  EXPECT_TRUE(says(message("a,b,c\n1,2,3\n"), {"p.csv", "columns"}));
  EXPECT_TRUE(says(message("id,smiles,target,prediction\nm,C,1,x\n"), {"p.csv:2", "'x'"}));
  EXPECT_TRUE(says(message("id,smiles,target,prediction\nm,C,1\n"), {"p.csv:2"}));
}

TEST(Scores, OfKnownValues) {
  const Predictions p{
      {"gap"}, {"", "", "", ""}, {"", "", "", ""}, {1, 2, kMissing, 6}, {2, 2, 9, 4}};
  const SplitScores split = score(p, {"eV"});
  EXPECT_DOUBLE_EQ(split.value("mae"), 1.0);
  EXPECT_DOUBLE_EQ(split.value("rmse"), std::sqrt(5.0 / 3));
  EXPECT_DOUBLE_EQ(split.value("r2"), 1 - 5.0 / 14);
  EXPECT_EQ(split.targets[0].count, 3);
  EXPECT_EQ(to_json(split)["unit"], "eV");
}

TEST(PredictionTable, LeavesOutWhatIsNoNumber) {
  PredictionTable table({"a", "b"});
  table.add("1", "C", std::vector<double>{1, 2}, "");
  table.add("2", "CC", std::vector<double>{1, NAN}, "");
  table.add("3", "CCC", std::vector<double>{INFINITY, 2}, "");
  EXPECT_EQ(table.rows(), 3);
  EXPECT_EQ(table.problems(), 2);
  EXPECT_TRUE(says(table.text(), {"1,C,1,2,\n", "2,CC,,,the model", "3,CCC,,,the model"}));
}

TEST(Scores, OfTheMeanPredictor) {
  const Predictions p{{"a", "b"}, {"", ""}, {"", ""}, {1, 10, 3, 20}, {0, 0, 0, 0}};
  const SplitScores split = score_mean_predictor(p, {2, 15}, {"eV", "D"});
  EXPECT_DOUBLE_EQ(split.targets[0].values[0], 1);
  EXPECT_DOUBLE_EQ(split.targets[1].values[0], 5);
  EXPECT_DOUBLE_EQ(split.value("mae"), 3);
  EXPECT_DOUBLE_EQ(split.value("r2"), 0);
  EXPECT_EQ(split.unit(), "");
  EXPECT_EQ(to_json(split)["targets"]["b"]["mae"], 5);
}

TEST(Scores, NothingKnownIsNull) {
  const Predictions p{{"gap"}, {""}, {""}, {kMissing}, {1}};
  EXPECT_TRUE(to_json(score(p, {""}))["mae"].is_null());
}

}  // namespace
}  // namespace moiety::apps
