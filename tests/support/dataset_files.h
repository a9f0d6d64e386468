// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "data/dataset_writer.h"
#include "support/temporary_folder.h"
#include "tensor/rng.h"

namespace moiety::testing {

using data::DatasetWriter;
using data::DatasetWriterOptions;
using data::FeatureSchema;
using data::MoleculeRecord;
using data::SplitIndices;
using data::TargetSpec;

/// Reproducible small numbers.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : key_{seed, 0} {}
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(
        random_below(key_, next_++, static_cast<std::uint64_t>(bound)));
  }

 private:
  RngKey key_;
  std::uint64_t next_ = 0;
};

inline FeatureSchema test_features() { return {"test-1", {119, 5, 12}, {5, 2}}; }

inline std::vector<TargetSpec> test_targets() {
  return {{"gap", "eV", "regression"}, {"active", "", "binary"}};
}

/// A ring of `atoms` atoms with random features; one atom has no edges, none at all has none.
inline MoleculeRecord random_molecule(Dice& dice, std::int64_t atoms,
                                      const FeatureSchema& features = test_features(),
                                      std::int64_t targets = 2) {
  MoleculeRecord out;
  for (std::int64_t i = 0; i < atoms; ++i) {
    for (const auto classes : features.atom_dims) {
      out.x.push_back(static_cast<std::int32_t>(dice.below(classes)));
    }
    out.z.push_back(static_cast<std::uint8_t>(1 + dice.below(100)));
  }
  for (std::int32_t to = 0; atoms > 1 && to < atoms; ++to) {
    const auto n = static_cast<std::int32_t>(atoms);
    for (const std::int32_t from : {(to + n - 1) % n, (to + 1) % n}) {
      out.edge_src.push_back(from);
      out.edge_dst.push_back(to);
      for (const auto classes : features.bond_dims) {
        out.edge_attr.push_back(static_cast<std::int32_t>(dice.below(classes)));
      }
    }
  }
  for (std::int64_t t = 0; t < targets; ++t) {
    const bool missing = dice.below(5) == 0;
    const double number =
        missing ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(dice.below(1000));
    const bool is_class = t == 1 && !missing;
    out.y.push_back(is_class ? static_cast<double>(number < 400) : number / 7);
  }
  out.smiles = std::string(static_cast<std::size_t>(atoms), 'C');
  out.id = "molecule " + std::to_string(dice.below(1 << 20));
  return out;
}

/// `count` molecules of 0 to 12 atoms; the first two have one atom and none.
inline std::vector<MoleculeRecord> random_molecules(std::int64_t count, std::uint64_t seed) {
  Dice dice(seed);
  std::vector<MoleculeRecord> out;
  for (std::int64_t i = 0; i < count; ++i) {
    out.push_back(random_molecule(dice, i < 2 ? 1 - i : dice.below(13)));
  }
  return out;
}

/// The first four fifths, and half of the rest each.
inline SplitIndices simple_splits(std::int64_t molecules) {
  const auto range = [](std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(end - begin));
    std::iota(rows.begin(), rows.end(), begin);
    return rows;
  };
  const std::int64_t a = molecules * 4 / 5;
  const std::int64_t b = a + (molecules - a) / 2;
  return {range(0, a), range(a, b), range(b, molecules)};
}

inline DatasetWriterOptions test_options(const std::string& path) {
  return {path, test_features(), test_targets(), false, "molecules.csv", "xxh64:0"};
}

inline void write_dataset(const std::string& path, const std::vector<MoleculeRecord>& molecules) {
  DatasetWriter writer(test_options(path));
  for (const auto& molecule : molecules) writer.append(molecule);
  writer.finish(simple_splits(std::ssize(molecules)));
}

}  // namespace moiety::testing
