// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>
#include <string>

#include "apps/recipe.h"
#include "data/dataset_writer.h"
#include "data/featurize.h"
#include "data/word_tokenizer.h"
#include "support/temporary_folder.h"

namespace moiety::testing {

/// SMILES number i of 480 that all differ: chains of carbon and oxygen, some with a ring.
inline std::string toy_smiles(std::int64_t i) {
  std::string out = i % 2 == 0 ? "C" : "c1ccccc1C";
  for (std::int64_t bits = i / 2 + 1; bits > 1; bits /= 2) out += bits % 2 == 0 ? "CC" : "OC";
  return out;
}

/// Knows the tokens of toy_smiles(), however it is written, and those that models need.
inline data::WordTokenizer toy_tokenizer() {
  data::TokenVocabulary vocabulary;
  const auto add = [&](const char* token, data::TokenRole role) {
    vocabulary.set_role(role, *vocabulary.add(token));
  };
  add("[PAD]", data::TokenRole::pad);
  add("[CLS]", data::TokenRole::begin);
  add("[SEP]", data::TokenRole::end);
  add("[MASK]", data::TokenRole::mask);
  for (const char* token : {"C", "O", "c", "1", "(", ")"}) vocabulary.add(token);
  return data::WordTokenizer(std::move(vocabulary));
}

/// What a toy data set of sequences has besides tokens.
struct ToySequences {
  bool targets = true;  ///< "oxygens" and "carbons", of the first one some are missing
  bool binary = false;  ///< instead of them "ring" and "long", likewise
};

/// 200 molecules with graphs and tokens, in splits of 160, 20 and 20.
inline std::string make_toy_sequences(const TemporaryFolder& folder,
                                      const ToySequences& what = {}) {
  const std::string path = (folder / "sequences.h5").string();
  data::DatasetWriterOptions options;
  options.path = path;
  options.features = data::ogb_schema();
  if (what.targets && what.binary) {
    options.targets = {{"ring", "", "binary"}, {"long", "", "binary"}};
  } else if (what.targets) {
    options.targets = {{"oxygens", "", "regression"}, {"carbons", "", "regression"}};
  }
  data::DatasetWriter writer(options);
  data::SplitIndices splits;
  for (std::int64_t i = 0; i < 200; ++i) {
    const std::string smiles = toy_smiles(i);
    data::MoleculeRecord record = data::Molecule(smiles).graph();
    const auto oxygens = static_cast<double>(std::ranges::count(smiles, 'O'));
    const auto atoms = static_cast<double>(record.z.size());
    const double missing = std::numeric_limits<double>::quiet_NaN();
    if (what.targets && what.binary) {
      record.y = {i % 7 == 3 ? missing : static_cast<double>(i % 2), atoms > 14 ? 1.0 : 0.0};
    } else if (what.targets) {
      record.y = {i % 7 == 3 ? missing : oxygens, atoms - oxygens};
    }
    record.smiles = smiles;
    record.id = "m" + std::to_string(i);
    writer.append(record);
    const std::int64_t tenth = i / 2 % 10;  // each has molecules with and without a ring
    (tenth == 4 ? splits.valid : tenth == 9 ? splits.test : splits.train).push_back(i);
  }
  writer.add_tokens(toy_tokenizer());
  writer.finish(splits);
  return path;
}

/// A small model of that type on it.
inline apps::Recipe toy_sequence_recipe(const std::string& path, const std::string& type) {
  apps::Recipe recipe = apps::default_recipe(type);
  recipe.data.path = path;
  recipe.data.batch_size = 32;
  recipe.model.hidden = 16;
  recipe.model.layers = 2;
  if (apps::reads_tokens(recipe.model)) {
    recipe.model.heads = 2;
    recipe.model.max_length = 40;
  }
  recipe.train.lr = 3e-3;
  recipe.train.epochs = 1'000'000;
  recipe.train.schedule = "constant";
  recipe.train.weight_decay = 0.01;
  return recipe;
}

}  // namespace moiety::testing
