// SPDX-License-Identifier: Apache-2.0
#include "data/prepare.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/featurize.h"
#include "support/error_text.h"
#include "support/temporary_folder.h"

namespace moiety::data {
namespace {

using namespace moiety::testing;  // NOLINT: helpers of the tests

class Prepare : public ::testing::Test {
 protected:
  PrepareOptions options(const std::string& content, std::vector<TargetSpec> targets) {
    write_bytes(folder_ / "source.csv", content);
    PrepareOptions out;
    out.sources = {folder_ / "source.csv"};
    out.output = folder_ / "data.h5";
    out.targets = std::move(targets);
    return out;
  }
  std::string refusal(const PrepareOptions& o) {
    return error_text<UserError>([&] { prepare(o); });
  }
  Dataset dataset() { return Dataset((folder_ / "data.h5").string()); }
  TemporaryFolder folder_;
};

std::vector<std::int64_t> rows(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(end - begin));
  std::iota(out.begin(), out.end(), begin);
  return out;
}

const std::vector<TargetSpec> kGap = {{"gap", "eV", "regression"}};

std::string chains(int count) {
  std::string content = "smiles,gap\n";
  for (int i = 1; i <= count; ++i) {
    content += std::string(static_cast<std::size_t>(1 + i % 40), i % 3 == 0 ? 'N' : 'C') + "," +
               std::to_string(i) + "\n";
  }
  return content;
}

TEST_F(Prepare, RowsInOrderWithTheirTargets) {
  auto o = options("name,gap,smiles,mu\na,1.5,CCO,\nb,NA,C,2\nc,-.5,c1ccccc1 ,4\n",
                   {{"gap", "eV", "regression"}, {"mu", "debye", "regression"}});
  o.id_column = "name";
  const PrepareReport report = prepare(o);
  EXPECT_EQ(report.rows, 3);
  EXPECT_EQ(report.molecules, 3);
  EXPECT_FALSE(std::filesystem::exists(report.rejects_file));
  const Dataset data = dataset();
  EXPECT_EQ(data.smiles(rows(0, 3)), (std::vector<std::string>{"CCO", "C", "c1ccccc1"}));
  EXPECT_EQ(data.ids(rows(0, 3)), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(data.targets(0)[0], 1.5);
  EXPECT_TRUE(std::isnan(data.targets(0)[1]));
  EXPECT_TRUE(std::isnan(data.targets(1)[0]));
  EXPECT_EQ(data.targets(2)[0], -0.5);
  EXPECT_EQ(data.record(0).x, Molecule("CCO").graph().x);
  EXPECT_EQ(data.info().targets[1].unit, "debye");
  EXPECT_EQ(data.info().features.featuriser, "ogb-1.3.6");
  EXPECT_EQ(data.info().source, "source.csv");
  EXPECT_EQ(data.info().source_hash.substr(0, 6), "xxh64:");
}

TEST_F(Prepare, ListsWhatItRejects) {
  const auto report = prepare(options(
      "smiles,gap\nC,1\nC1CC,2\n,3\nCC,x\n\nCCC\nN,\nO,4\n\"a,b(\",5\nCO,inf\nCN,6\n", kGap));
  EXPECT_EQ(report.rows, 10);
  EXPECT_EQ(report.molecules, 3);
  EXPECT_EQ(report.rejected, 7);
  EXPECT_EQ(report.rejected_by_kind,
            (std::map<std::string, std::int64_t>{{"SMILES: empty", 1},
                                                 {"SMILES: syntax", 2},
                                                 {"no target", 1},
                                                 {"target is no number", 2},
                                                 {"unreadable row", 1}}));
  EXPECT_EQ(read_bytes(report.rejects_file),
            "source,line,id,smiles,reason\n"
            "source.csv,3,,C1CC,unclosed ring for input: 'C1CC'\n"
            "source.csv,4,,,there is no SMILES\n"
            "source.csv,5,,CC,\"target 'gap' is 'x', not a finite number\"\n"
            "source.csv,7,,CCC,1 field where the header has 2\n"
            "source.csv,8,,N,all targets are missing\n"
            "source.csv,10,,\"a,b(\",\"syntax error while parsing: a,b(\"\n"
            "source.csv,11,,CO,\"target 'gap' is 'inf', not a finite number\"\n");
}

TEST_F(Prepare, HintsAtDecimalPoints) {
  const auto report = prepare(options("smiles;gap\nC;1\nCC;1,5\nCCC;2\nCCCC;3\n", kGap));
  EXPECT_TRUE(says(read_bytes(report.rejects_file), {"'1,5'", "decimal points"}));
}

TEST_F(Prepare, AnOlderTableOfRejectsStaysUntilTheEnd) {
  auto o = options("smiles,gap\nXX,1\n" + chains(20).substr(11), kGap);
  const auto rejects = folder_ / "data.h5.rejects.csv";
  write_bytes(rejects, "older");
  std::string meanwhile;
  EXPECT_EQ(prepare(o, [&](const auto&) { meanwhile = read_bytes(rejects); }).rejected, 1);
  EXPECT_EQ(meanwhile, "older");
  EXPECT_TRUE(says(read_bytes(rejects), {"XX"}));
  write_bytes(folder_ / "source.csv", chains(20));
  o.overwrite = true;
  prepare(o, [&](const auto&) { meanwhile = read_bytes(rejects); });
  EXPECT_TRUE(says(meanwhile, {"XX"}));
  EXPECT_FALSE(std::filesystem::exists(rejects)) << "nothing was rejected";
}

TEST_F(Prepare, OutputsReplaceNoInput) {
  auto o = options(chains(20), kGap);
  o.overwrite = true;
  std::filesystem::create_symlink("source.csv", folder_ / "data.h5");
  EXPECT_TRUE(says(refusal(o), {"data.h5", "is the input", "source.csv"}));
  std::filesystem::remove(folder_ / "data.h5");
  std::filesystem::rename(folder_ / "source.csv", folder_ / "data.h5.rejects.csv");
  o.sources = {folder_ / "data.h5.rejects.csv"};
  EXPECT_TRUE(says(refusal(o), {"data.h5.rejects.csv", "is the input"}));
  EXPECT_EQ(read_bytes(o.sources[0]), chains(20));
}

TEST_F(Prepare, WritesThroughASymbolicLink) {
  const auto o = options(chains(20), kGap);
  std::filesystem::create_symlink("elsewhere.h5", folder_ / "data.h5");
  prepare(o);
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "data.h5"));
  EXPECT_EQ(Dataset((folder_ / "elsewhere.h5").string()).size(), 20);
}

TEST_F(Prepare, SameBytesForAnyNumberOfThreads) {
  std::string content = chains(9000);
  content += "C1CC,1\nC(,2\nXX,3\n";
  auto o = options(content, kGap);
  o.threads = 1;
  const auto one = prepare(o);
  const std::string bytes = read_bytes(o.output);
  const std::string rejects = read_bytes(one.rejects_file);
  o.overwrite = true;
  o.threads = 2;
  const auto two = prepare(o);
  EXPECT_TRUE(read_bytes(o.output) == bytes);
  EXPECT_EQ(read_bytes(two.rejects_file), rejects);
  EXPECT_EQ(two.duplicates, one.duplicates);
  EXPECT_GT(two.duplicates, 0);
}

TEST_F(Prepare, CountsTheSameMoleculeWrittenTwice) {
  EXPECT_EQ(prepare(options("smiles,gap\nOCC,1\nC(O)C,2\nC,3\nCCO,4\n", kGap)).duplicates, 2);
}

TEST_F(Prepare, CountsTestMoleculesThatTrainHoldsToo) {
  auto o = options("smiles,gap,split\nOCC,1,train\nC(O)C,2,test\nC,3,test\nCC,4,valid\nCC,5,test\n",
                   kGap);
  o.split.kind = SplitPlan::Kind::column;
  o.split_column = "split";
  EXPECT_EQ(prepare(o).test_in_train, 1) << "of three in test, one in train and one in valid";
}

TEST_F(Prepare, SeveralSourcesOneAfterTheOther) {
  auto o = options("smiles,gap\nC,1\nCC,2\n", kGap);
  write_bytes(folder_ / "more.tsv", "gap\tSMILES\n3\tCCC\n4\tCCCC\n");
  o.sources.push_back(folder_ / "more.tsv");
  EXPECT_EQ(prepare(o).molecules, 4);
  EXPECT_EQ(dataset().smiles(rows(0, 4)), (std::vector<std::string>{"C", "CC", "CCC", "CCCC"}));
  EXPECT_EQ(dataset().info().source, "source.csv, more.tsv");
}

TEST_F(Prepare, SmilesLinesWithoutTargets) {
  PrepareOptions o;
  write_bytes(folder_ / "m.smi", "C methane\nCC ethane\nCCC\n");
  o.sources = {folder_ / "m.smi"};
  o.output = folder_ / "data.h5";
  EXPECT_EQ(prepare(o).molecules, 3);
  EXPECT_EQ(dataset().ids(rows(0, 3)), (std::vector<std::string>{"methane", "ethane", ""}));
  EXPECT_TRUE(dataset().info().targets.empty());
}

TEST_F(Prepare, ClassesAreZeroAndOne) {
  auto o = options("smiles,a,b\nC,1,0\nCC,,\nCCC,0.0,1\nCCCC,2,1\n",
                   {{"a", "", "multilabel"}, {"b", "", "multilabel"}});
  const auto report = prepare(o);
  EXPECT_EQ(report.molecules, 3) << "a row without labels stays in a multilabel set";
  EXPECT_EQ(report.rejected_by_kind.at("target is no class"), 1);
  o.targets = {{"a", "", "binary"}, {"b", "", "binary"}};
  o.overwrite = true;
  EXPECT_TRUE(says(refusal(o), {"one target", "multilabel"}));
}

TEST_F(Prepare, SplitsByColumnFileAndScaffold) {
  auto o =
      options("smiles,gap,set\nC,1,test\nCC,2,train\nXX,9,train\nCCC,3,val\nN,4,foo\nO,5,\n", kGap);
  o.split.kind = SplitPlan::Kind::column;
  o.split_column = "set";
  const auto by_column = prepare(o);
  EXPECT_EQ(by_column.rejected_by_kind.at("unknown split"), 1);
  EXPECT_EQ(by_column.molecules, 4);
  EXPECT_EQ(dataset().split(Split::valid)[0], 2);
  EXPECT_EQ(by_column.train + by_column.valid + by_column.test, 3);

  o.overwrite = true;
  o.split_column.clear();
  o.split.kind = SplitPlan::Kind::file;
  o.split.file = folder_ / "split.json";
  write_bytes(o.split.file, R"({"train": [0, 1, 2], "valid": [4], "test": [5]})");
  prepare(o);
  EXPECT_EQ(dataset().split(Split::train).size(), 2u) << "row 2 is no molecule";
  EXPECT_EQ(dataset().smiles(rows(3, 4)).front(), "N");
  EXPECT_EQ(dataset().split(Split::valid)[0], 3);

  o.split.kind = SplitPlan::Kind::scaffold;
  EXPECT_TRUE(says(refusal(o), {"1 scaffolds", "at random"}));
}

TEST_F(Prepare, ReportsProgressUpToTheEnd) {
  PrepareProgress last;
  int calls = 0;
  prepare(options(chains(9000), kGap), [&](const PrepareProgress& p) {
    EXPECT_GE(p.bytes, last.bytes);
    last = p;
    ++calls;
  });
  EXPECT_GE(calls, 3);
  EXPECT_EQ(last.bytes, last.total_bytes);
  EXPECT_EQ(last.molecules, 9000);
}

TEST_F(Prepare, RefusesWhatCannotWork) {
  auto o = options("smiles,gap\nXX,1\nC,\n", kGap);
  EXPECT_TRUE(says(refusal(o), {"none of the 2 rows", "source.csv", "data.h5.rejects.csv"}));
  EXPECT_FALSE(std::filesystem::exists(o.output));

  o = options(chains(20), kGap);
  prepare(o);
  EXPECT_TRUE(says(refusal(o), {"data.h5", "exists"}));
  o.overwrite = true;
  o.sources = {folder_ / "data.h5"};
  EXPECT_THROW(prepare(o), UserError);
  o = options(chains(2), kGap);
  o.overwrite = true;
  EXPECT_TRUE(says(refusal(o), {"source.csv", "only 2 molecules to split"}));
  mkfifo((folder_ / "pipe.csv").c_str(), 0600);
  o.sources = {folder_ / "pipe.csv"};
  EXPECT_TRUE(says(refusal(o), {"pipe.csv", "pipe or a device"}));
  o.sources = {folder_ / "absent.csv"};
  EXPECT_TRUE(says(refusal(o), {"no file", "absent.csv"}));
  o = options(chains(20), {{"gpa", "", "regression"}});
  o.overwrite = true;
  EXPECT_TRUE(says(refusal(o), {"source.csv", "no column 'gpa'"}));
  o.targets = {{"gap", "", "ranking"}};
  EXPECT_TRUE(says(refusal(o), {"'ranking'", "regression"}));
  o.targets = {{"gap", "", "regression"}, {"gap", "", "regression"}};
  EXPECT_TRUE(says(refusal(o), {"'gap'", "twice"}));
  o.targets = kGap;
  o.output = folder_ / "nowhere" / "data.h5";
  EXPECT_TRUE(says(refusal(o), {"no folder", "nowhere"}));
}

}  // namespace
}  // namespace moiety::data
