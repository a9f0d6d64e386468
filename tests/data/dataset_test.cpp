// SPDX-License-Identifier: Apache-2.0
#include "data/dataset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <optional>

#include "data/dataset_writer.h"
#include "support/dataset_files.h"
#include "support/error_text.h"

namespace moiety::data {
namespace {

using namespace moiety::testing;  // NOLINT: helpers of the tests

void expect_equal(const MoleculeRecord& a, const MoleculeRecord& b) {
  EXPECT_EQ(a.x, b.x);
  EXPECT_EQ(a.z, b.z);
  EXPECT_EQ(a.pos, b.pos);
  EXPECT_EQ(a.edge_src, b.edge_src);
  EXPECT_EQ(a.edge_dst, b.edge_dst);
  EXPECT_EQ(a.edge_attr, b.edge_attr);
  ASSERT_EQ(a.y.size(), b.y.size());
  for (std::size_t t = 0; t < a.y.size(); ++t) {
    EXPECT_TRUE(a.y[t] == b.y[t] || (std::isnan(a.y[t]) && std::isnan(b.y[t])));
  }
  EXPECT_EQ(a.smiles, b.smiles);
  EXPECT_EQ(a.id, b.id);
}

std::ptrdiff_t count_files(const TemporaryFolder& folder) {
  return std::distance(std::filesystem::directory_iterator(folder.path()), {});
}

TEST(Dataset, RoundTrip) {
  const TemporaryFolder folder;
  const auto molecules = random_molecules(300, 1);
  write_dataset(folder / "a.h5", molecules);
  EXPECT_EQ(count_files(folder), 1) << "spools and the partial file are gone";
  const Dataset dataset(folder / "a.h5");
  ASSERT_EQ(dataset.size(), 300);
  for (std::int64_t m = 299; m >= 0; --m) {
    expect_equal(dataset.record(m), molecules[static_cast<std::size_t>(m)]);
  }
  const auto splits = simple_splits(300);
  EXPECT_TRUE(std::ranges::equal(dataset.split(Split::train), splits.train));
  EXPECT_TRUE(std::ranges::equal(dataset.split(Split::valid), splits.valid));
  EXPECT_TRUE(std::ranges::equal(dataset.split(Split::test), splits.test));
  EXPECT_THROW(dataset.record(300), ShapeError);
  EXPECT_THROW(dataset.atoms(-1), ShapeError);
  const std::vector<std::int64_t> some = {250, 3, 3, 0};
  const auto smiles = dataset.smiles(some);
  const auto ids = dataset.ids(some);
  for (std::size_t i = 0; i < some.size(); ++i) {
    EXPECT_EQ(smiles.at(i), molecules[static_cast<std::size_t>(some[i])].smiles);
    EXPECT_EQ(ids.at(i), molecules[static_cast<std::size_t>(some[i])].id);
  }
  EXPECT_THROW(dataset.smiles(std::vector<std::int64_t>{0, 300}), ShapeError);
}

TEST(Dataset, InfoDescribesIt) {
  const TemporaryFolder folder;
  const auto molecules = random_molecules(200, 2);
  write_dataset(folder / "a.h5", molecules);
  const DatasetInfo info = Dataset(folder / "a.h5").info();
  EXPECT_EQ(info.schema, "moiety-graphs");
  EXPECT_EQ(info.features.featuriser, "test-1");
  EXPECT_EQ(info.features.atom_dims, test_features().atom_dims);
  EXPECT_EQ(info.features.bond_dims, test_features().bond_dims);
  ASSERT_EQ(info.targets.size(), 2u);
  EXPECT_EQ(info.targets[0].name, "gap");
  EXPECT_EQ(info.targets[0].unit, "eV");
  EXPECT_EQ(info.targets[1].task, "binary");
  EXPECT_EQ(info.source, "molecules.csv");
  EXPECT_EQ(info.source_hash, "xxh64:0");
  EXPECT_EQ(info.train, 160);
  EXPECT_EQ(info.valid + info.test, 40);
  EXPECT_FALSE(info.has_positions);
  std::int64_t atoms = 0;
  std::int64_t isolated = 0;
  double sum = 0, squares = 0, count = 0;
  for (std::size_t m = 0; m < molecules.size(); ++m) {
    atoms += std::ssize(molecules[m].z);
    isolated += molecules[m].z.size() == 1;
    if (m >= 160 || std::isnan(molecules[m].y[0])) continue;
    sum += molecules[m].y[0];
    squares += molecules[m].y[0] * molecules[m].y[0];
    count += 1;
  }
  EXPECT_EQ(info.atoms, atoms);
  EXPECT_EQ(info.min_atoms, 0);
  EXPECT_EQ(info.max_atoms, 12);
  EXPECT_DOUBLE_EQ(info.mean_atoms, static_cast<double>(atoms) / 200);
  EXPECT_EQ(info.degree_histogram, (std::vector<std::int64_t>{isolated, 0, atoms - isolated}));
  EXPECT_NEAR(info.target_mean[0], sum / count, 1e-9);
  EXPECT_NEAR(info.target_sd[0], std::sqrt(squares / count - sum / count * sum / count), 1e-9);
}

TEST(Dataset, SameInputSameBytes) {
  const TemporaryFolder folder;
  const auto molecules = random_molecules(5000, 3);
  write_dataset(folder / "a.h5", molecules);
  write_dataset(folder / "b.h5", molecules);
  EXPECT_TRUE(read_bytes(folder / "a.h5") == read_bytes(folder / "b.h5"));
}

TEST(Dataset, ChecksumTellsContentApart) {
  const TemporaryFolder folder;
  const auto molecules = random_molecules(40, 1);
  const auto checksum_with = [&](const DatasetWriterOptions& options, const SplitIndices& splits) {
    DatasetWriter writer(options);
    for (const auto& molecule : molecules) writer.append(molecule);
    writer.finish(splits);
    return Dataset(options.path).info().checksum;
  };
  auto options = test_options(folder / "a.h5");
  const auto splits = simple_splits(40);
  const std::uint64_t checksum = checksum_with(options, splits);
  options.path = folder / "b.h5";
  EXPECT_EQ(checksum_with(options, splits), checksum);
  auto other_splits = splits;
  std::swap(other_splits.valid, other_splits.test);
  EXPECT_NE(checksum_with(options, other_splits), checksum);
  options.targets[0].unit = "kcal/mol";
  EXPECT_NE(checksum_with(options, splits), checksum);
}

TEST(Dataset, WideFeaturesPositionsAndNoTargets) {
  const TemporaryFolder folder;
  const FeatureSchema features = {"wide", {1000, 2}, {}};
  Dice dice(4);
  std::vector<MoleculeRecord> molecules;
  for (int i = 0; i < 20; ++i) {
    molecules.push_back(random_molecule(dice, 5, features, 0));
    for (int k = 0; k < 15; ++k) molecules.back().pos.push_back(static_cast<float>(k) / 3);
  }
  molecules[7].x[0] = 999;
  DatasetWriter writer({folder / "a.h5", features, {}, true, "", ""});
  for (const auto& molecule : molecules) writer.append(molecule);
  writer.finish({});
  const Dataset dataset(folder / "a.h5");
  EXPECT_TRUE(dataset.info().has_positions);
  for (std::int64_t m = 0; m < 20; ++m) {
    expect_equal(dataset.record(m), molecules[static_cast<std::size_t>(m)]);
  }
}

TEST(Dataset, ReadersShareIt) {
  const TemporaryFolder folder;
  write_dataset(folder / "a.h5", random_molecules(10, 5));
  std::optional<Dataset> first(folder / "a.h5");
  const Dataset second = *first;
  const Dataset third(folder / "a.h5");
  first.reset();
  EXPECT_EQ(second.atoms(0), 1);
  EXPECT_EQ(third.atoms(0), 1);
  second.prefetch(std::vector<std::int64_t>{9, 0, 4});
}

TEST(Dataset, ChangedFileIsNoticed) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  write_dataset(path, random_molecules(10, 6));
  const Dataset dataset(path);
  write_dataset(path, random_molecules(20, 7));
  const std::vector<std::int64_t> row = {9};
  EXPECT_NO_THROW(dataset.smiles(row)) << "a rename leaves the open file as it was";
  EXPECT_EQ(Dataset(path).size(), 20);
  const Dataset cut(path);
  const auto molecules = random_molecules(20, 7);
  std::filesystem::resize_file(path, 5000);
  EXPECT_NO_THROW(cut.check_unchanged()) << "the molecules are in memory";
  EXPECT_EQ(cut.view(19).atoms, std::ssize(molecules[19].z));
  EXPECT_TRUE(says(error_text<IoError>([&] { cut.smiles(row); }), {"a.h5", "changed"}));
}

TEST(DatasetWriter, RefusesMoleculesThatDoNotFit) {
  const TemporaryFolder folder;
  DatasetWriter writer(test_options(folder / "a.h5"));
  Dice dice(8);
  const MoleculeRecord good = random_molecule(dice, 4);
  const auto refused = [&](auto&& spoil, const std::string& word) {
    MoleculeRecord bad = good;
    spoil(bad);
    EXPECT_TRUE(says(error_text<UserError>([&] { writer.append(bad); }), {word}));
  };
  refused([](auto& m) { m.x.pop_back(); }, "x has 11 values instead of 12");
  refused([](auto& m) { m.x[4] = 5; }, "row 1 holds class 5 of 5");
  refused([](auto& m) { m.x[4] = -1; }, "holds class -1");
  refused([](auto& m) { m.edge_attr[0] = 5; }, "edge_attr");
  refused([](auto& m) { m.edge_src[0] = 4; }, "goes from 4");
  refused([](auto& m) { std::swap(m.edge_dst[0], m.edge_dst[7]); }, "order");
  refused([](auto& m) { m.edge_dst.pop_back(); }, "edge_dst");
  refused([](auto& m) { m.y.push_back(0); }, "y has 3 values instead of 2");
  refused([](auto& m) { m.y[0] = INFINITY; }, "infinite");
  refused([](auto& m) { m.pos.resize(12); }, "pos");
  refused([](auto& m) { m.smiles.push_back('\0'); }, "SMILES");
  writer.append(good);
  writer.finish({{0}, {}, {}});
  const Dataset dataset(folder / "a.h5");
  ASSERT_EQ(dataset.size(), 1);
  expect_equal(dataset.record(0), good);
}

TEST(DatasetWriter, RefusesBadSchemasAndSplits) {
  const TemporaryFolder folder;
  auto options = test_options(folder / "a.h5");
  options.features.atom_dims = {0};
  EXPECT_THROW(DatasetWriter{options}, UserError);
  options = test_options(folder / "a.h5");
  options.targets[0].task = "guess";
  EXPECT_THROW(DatasetWriter{options}, UserError);
  EXPECT_THROW(DatasetWriter{test_options(folder / "no/such/a.h5")}, IoError);

  Dice dice(9);
  DatasetWriter writer(test_options(folder / "a.h5"));
  EXPECT_THROW(writer.finish({}), UserError) << "no molecules";
  writer.append(random_molecule(dice, 3));
  writer.append(random_molecule(dice, 3));
  EXPECT_THROW(writer.finish({{0, 1}, {1}, {}}), UserError);
  EXPECT_THROW(writer.finish({{0, 2}, {}, {}}), UserError);
  EXPECT_THROW(writer.finish({{-1}, {}, {}}), UserError);
  writer.finish({{0}, {1}, {}});
  EXPECT_THROW(writer.append(random_molecule(dice, 3)), Error);
  EXPECT_EQ(Dataset(folder / "a.h5").info().valid, 1);
}

TEST(DatasetWriter, LeavesNothingBehindWhenAbandoned) {
  const TemporaryFolder folder;
  {
    Dice dice(10);
    DatasetWriter writer(test_options(folder / "a.h5"));
    writer.append(random_molecule(dice, 3));
  }
  EXPECT_EQ(count_files(folder), 0);
}

TEST(DatasetWriter, ConstantTargetHasSpreadOne) {
  const TemporaryFolder folder;
  Dice dice(11);
  DatasetWriter writer(test_options(folder / "a.h5"));
  for (int i = 0; i < 3; ++i) {
    MoleculeRecord molecule = random_molecule(dice, 3);
    molecule.y = {-76.25, std::nan("")};
    writer.append(molecule);
  }
  writer.finish({{0, 1, 2}, {}, {}});
  const DatasetInfo info = Dataset(folder / "a.h5").info();
  EXPECT_EQ(info.target_mean, (std::vector<double>{-76.25, 0}));
  EXPECT_EQ(info.target_sd, (std::vector<double>{1, 1}));
}

}  // namespace
}  // namespace moiety::data
