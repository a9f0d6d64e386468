// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "apps/recipe.h"
#include "support/dataset_files.h"

namespace moiety::testing {

/// 400 molecules of 1 to 16 atoms whose target is target(row, atoms); rows from 320 on are for
/// validation, from 360 on for the test.
template <class F>
std::string make_toy_dataset(const TemporaryFolder& folder, const F& target) {
  const std::string path = (folder / "toy.h5").string();
  Dice dice(1);
  DatasetWriterOptions options;
  options.path = path;
  options.features = test_features();
  options.targets = {{"atoms", "", "regression"}};
  DatasetWriter writer(options);
  SplitIndices split;
  for (std::int64_t i = 0; i < 400; ++i) {
    MoleculeRecord molecule = random_molecule(dice, 1 + dice.below(16), test_features(), 1);
    molecule.y = {target(i, static_cast<double>(molecule.z.size()))};
    writer.append(molecule);
    (i < 320 ? split.train : i < 360 ? split.valid : split.test).push_back(i);
  }
  writer.finish(split);
  return path;
}

/// Where the target is the number of atoms.
inline std::string make_toy_dataset(const TemporaryFolder& folder) {
  return make_toy_dataset(folder, [](std::int64_t, double atoms) { return atoms; });
}

/// A small network that would learn it for ever.
inline apps::Recipe toy_recipe(const std::string& path) {
  apps::Recipe recipe;
  recipe.data.path = path;
  recipe.data.batch_size = 32;
  recipe.model.type = "gine";
  recipe.model.hidden = 16;
  recipe.model.layers = 2;
  recipe.model.norm = "layer";
  recipe.model.dropout = 0.1;
  recipe.train.epochs = 1'000'000;
  recipe.train.schedule = "constant";
  return recipe;
}

}  // namespace moiety::testing
