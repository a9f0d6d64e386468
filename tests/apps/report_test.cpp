// SPDX-License-Identifier: Apache-2.0
#include "apps/report.h"

#include <gtest/gtest.h>

#include <cmath>

#include "apps/html.h"
#include "apps/metrics.h"
#include "apps/result_screen.h"
#include "apps/summary.h"
#include "apps/svg_frame.h"
#include "support/error_text.h"
#include "support/temporary_folder.h"

namespace moiety::apps {
namespace {

using moiety::testing::says;

/// "" when every tag is closed in order, else the first that is not.
std::string first_unbalanced_tag(std::string_view html) {
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string_view::npos; at = html.find('<', at + 1)) {
    const std::size_t end = html.find('>', at);
    if (end == std::string_view::npos) return std::string(html.substr(at));
    const std::string_view tag = html.substr(at + 1, end - at - 1);
    const std::string name(tag.substr(0, tag.find_first_of(" \n")));
    if (tag.starts_with("!") || tag.ends_with("/")) continue;
    if (!tag.starts_with("/")) {
      open.push_back(name);
    } else if (open.empty() || "/" + open.back() != name) {
      return name;
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back();
}

RunRecord sample_run(std::int64_t molecules, const std::string& name = "run") {
  Predictions test{{"gap"}, {}, {}, {}, {}};
  for (std::int64_t m = 0; m < molecules; ++m) {
    test.id.push_back("m");
    test.smiles.push_back("C");
    test.truth.push_back(4 + 0.001 * static_cast<double>(m));
    test.prediction.push_back(test.truth.back() + 0.1 * std::sin(static_cast<double>(m)));
  }
  Summary summary;
  summary.name = name;
  summary.model = "gcn, 5 layers of 128";
  summary.dataset = "data/gap.h5";
  summary.metrics["test"] = score(test, {"eV"});
  summary.metrics["test"].targets[0].values[0] = 0.17129;
  summary.baselines["mean predictor"]["test"] = score_mean_predictor(test, {4.0}, {"eV"});
  summary.parameters = 123456;
  summary.device = "cuda:0";
  summary.memory = {
      .peak_bytes = 3 << 19, .device_bytes = std::int64_t{140} << 30, .resident_bytes = 5 << 20};
  RunRecord run{name, to_json(summary), {}, test, "[train]\nlr = 1e-3 # <fast> & furious\n"};
  for (int epoch = 1; epoch <= 5; ++epoch) {
    run.metrics.push_back({{"step", 10 * epoch},
                           {"epoch", epoch},
                           {"seconds", 2 * epoch},
                           {"lr", 1e-3 / epoch},
                           {"train", {{"loss", 1.0 / epoch}}},
                           {"valid", {{"mae", 0.5 / epoch}, {"rmse", 0.7 / epoch}}}});
  }
  return run;
}

TEST(Report, ShowsTheFigures) {
  const std::string html = render_report(sample_run(100));
  EXPECT_TRUE(says(html, {"0.1713", "eV", "mean predictor", "gcn, 5 layers of 128", "123456",
                          "Learning rate", "Loss", "class=\"dots\"", "class=\"columns\"",
                          "100 molecules", "# &lt;fast&gt; &amp; furious",
                          "peak 1.5 MiB of 140.0 GiB on cuda:0; the program 5.0 MiB resident"}));
  EXPECT_EQ(first_unbalanced_tag(html), "");
}

/// Errors of 0.1 eV and 2 debye.
RunRecord two_target_run(const std::string& name) {
  RunRecord run = sample_run(3, name);
  run.predictions =
      Predictions{{"gap", "dipole"}, {"a", "b"}, {"C", "N"}, {1, 10, 3, 20}, {1.1, 12, 3.1, 22}};
  Summary summary;
  summary.model = "gine, 5 layers of 128";
  summary.metrics["test"] = score(*run.predictions, {"eV", "debye"});
  summary.metrics["valid"] = summary.metrics["test"];
  summary.baselines["mean predictor"]["test"] =
      score_mean_predictor(*run.predictions, {2, 15}, {"eV", "debye"});
  run.summary = to_json(summary);
  return run;
}

TEST(Report, NamesTargetDataSetAndPredictions) {
  EXPECT_TRUE(says(render_report(sample_run(5)),
                   {"gcn, 5 layers of 128: gap of data/gap.h5", "href=\"predictions_test.csv\""}));
  EXPECT_TRUE(
      says(render_report(sample_run(5), "runs/a"), {"href=\"runs/a/predictions_test.csv\""}));
}

TEST(Report, SeveralTargetsHaveAFigureEach) {
  const std::string html = render_report(two_target_run("two"));
  EXPECT_TRUE(says(html, {"Test MAE, dipole", "Test MAE, gap", "test, gap", "mean predictor"}));
  EXPECT_EQ(html.find(">1.05"), std::string::npos) << "the mean of eV and debye";
  EXPECT_EQ(first_unbalanced_tag(html), "");
}

TEST(Report, IsSelfContained) {
  const std::string html = render_report(sample_run(10));
  for (const char* outside : {"http:", "https:", "src=", "url(", "<script", "@import"}) {
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  }
}

TEST(Report, CountsManyMoleculesInSquares) {
  const std::string html = render_report(sample_run(13000));
  EXPECT_TRUE(says(html, {"class=\"density\"", "13000 molecules, counted in small squares"}));
  EXPECT_LT(html.size(), 400'000u);
  EXPECT_EQ(first_unbalanced_tag(html), "");
}

TEST(Report, OfARunThatHasNotEnded) {
  const RunRecord bare{"run", nlohmann::json::object(), {}, std::nullopt, ""};
  const std::string html = render_report(bare);
  EXPECT_TRUE(says(html, {"No result yet"}));
  EXPECT_EQ(first_unbalanced_tag(html), "");
}

TEST(Report, EscapesNames) {
  const std::string html = render_report(sample_run(3, "<script>alert('x')</script>"));
  EXPECT_EQ(html.find("<script>"), std::string::npos);
  EXPECT_EQ(first_unbalanced_tag(html), "");
}

TEST(Report, LeavesOutWhatIsNotANumber) {
  RunRecord run = sample_run(3);
  run.predictions->prediction[1] = std::nan("");
  run.metrics[2]["train"]["loss"] = nullptr;
  const std::string html = render_report(run);
  EXPECT_EQ(html.find("nan"), std::string::npos);
  EXPECT_TRUE(says(html, {"1 without a value left out"}));
}

TEST(Comparison, NamesRunsAndDifferences) {
  std::vector<RunRecord> runs = {sample_run(3, "first"), sample_run(3, "second")};
  runs[0].recipe = "[data]\npath = \"a\"\n[train]\nlr = 1e-3\n";
  runs[1].recipe = "[data]\npath = \"a\"\n[train]\nlr = 5e-3\n";
  const std::string html = render_comparison(runs);
  EXPECT_TRUE(says(html, {"first", "second", "train.lr", "0.005", "validation MAE",
                          "peak memory (MiB)", "<td>1.5</td>"}));
  EXPECT_EQ(html.find("data.path"), std::string::npos);
  EXPECT_EQ(first_unbalanced_tag(html), "");
}

TEST(Comparison, HasARowATarget) {
  const std::string html = render_comparison({sample_run(3, "first"), two_target_run("two")});
  EXPECT_TRUE(says(
      html, {"<th>target</th>", "<td>two</td><td>dipole</td><td>2</td>",
             "<td>two</td><td>gap</td><td>0.1</td>", "<td>first</td><td>gap</td><td>0.1713</td>"}));
  EXPECT_EQ(first_unbalanced_tag(html), "");
}

TEST(RunRecord, ComesFromTheFilesOfARun) {
  const moiety::testing::TemporaryFolder folder;
  const RunRecord made = sample_run(4);
  RunDirectory run(folder / "one", RunDirectory::Mode::create);
  run.write_recipe(made.recipe);
  run.write_summary(made.summary);
  run.write_predictions(to_csv(*made.predictions));
  for (const auto& line : made.metrics) run.append_metrics(line);
  const RunRecord read = load_run(open_run(folder / "one" / ""));
  EXPECT_EQ(read.name, "one");
  EXPECT_EQ(read.summary, made.summary);
  EXPECT_EQ(read.metrics, made.metrics);
  EXPECT_EQ(read.predictions->truth, made.predictions->truth);
  write_report(run.files());
  EXPECT_TRUE(std::filesystem::exists(run.files().report()));
}

TEST(Axis, TicksAreRound) {
  EXPECT_EQ(tick_places({0, 1, false}, 5), (std::vector<double>{0, 0.2, 0.4, 0.2 * 3, 0.8, 1}));
  EXPECT_EQ(tick_places({-3, 3, false}, 5), (std::vector<double>{-3, -2, -1, 0, 1, 2, 3}));
  EXPECT_EQ(tick_places({0.5, 2000, true}, 5), (std::vector<double>{1, 10, 100, 1000}));
}

TEST(Axis, FitsOddValues) {
  const Axis constant = fit_axis({3, 3, 3}, true, "");
  EXPECT_LT(constant.low, 3);
  EXPECT_GT(constant.high, 3);
  const Axis none = fit_axis({}, true, "");
  EXPECT_LT(none.low, none.high);
  EXPECT_TRUE(fit_axis({0.01, 1}, true, "").logarithmic);
  EXPECT_FALSE(fit_axis({-0.01, 1}, true, "").logarithmic);
}

TEST(ResultScreen, OrdersRunsAndBaselinesByTheirError) {
  RunRecord better = sample_run(10, "better");
  better.summary["metrics"]["test"]["mae"] = 0.0521;
  RunRecord unfinished = sample_run(10, "unfinished");
  unfinished.summary = nlohmann::json::object();
  const std::string screen = result_screen({sample_run(10, "first"), better, unfinished});
  std::size_t at = 0;
  for (const char* next : {"MAE", "mean predictor", "better (gcn, 5 layers of 128)", "0.0521",
                           "first", "0.1713", "eV", "unfinished", "not finished"}) {
    at = screen.find(next, at);
    ASSERT_NE(at, std::string::npos) << next << " in\n" << screen;
  }
  EXPECT_EQ(screen.find("mean predictor"), screen.rfind("mean predictor")) << "shared baselines";
}

TEST(ResultScreen, OfOneRunNamesItsModel) {
  const std::string screen = result_screen({sample_run(10, "first")});
  EXPECT_TRUE(says(screen, {"gcn, 5 layers of 128", "epochs",
                            "\nmemory: peak 1.5 MiB of 140.0 GiB on cuda:0;"}));
  EXPECT_EQ(screen.find("target"), std::string::npos) << "there is only one";
}

TEST(ResultScreen, SeveralTargetsAreRowsOfTheirOwn) {
  const std::string screen = result_screen({sample_run(10, "first"), two_target_run("two")});
  std::size_t at = 0;
  for (const char* next : {"target", "two (gine, 5 layers of 128)", "dipole", "2", "debye",
                           "mean predictor", "dipole", "two (gine", "gap", "0.1", "eV", "first",
                           "gap", "0.1713", "mean predictor", "gap", "1 ", "eV"}) {
    at = screen.find(next, at);
    ASSERT_NE(at, std::string::npos) << next << " in\n" << screen;
  }
  EXPECT_EQ(screen.find("1.05"), std::string::npos) << "the mean of eV and debye";
}

}  // namespace
}  // namespace moiety::apps
