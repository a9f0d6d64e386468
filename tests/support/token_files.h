// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/dataset_writer.h"
#include "data/featurize.h"
#include "data/word_tokenizer.h"
#include "support/dataset_files.h"

namespace moiety::testing {

/// Drugs, solvents and salts: rings, branches, charges, stereo centres, several parts.
inline std::vector<std::string> some_smiles() {
  return {"CC(=O)Oc1ccccc1C(=O)O",
          "CN1C=NC2=C1C(=O)N(C(=O)N2C)C",
          "CC(C)Cc1ccc(cc1)[C@@H](C)C(=O)O",
          "CCO",
          "C",
          "O",
          "c1ccccc1",
          "C1CCCCC1",
          "CC#N",
          "ClC(Cl)Cl",
          "Brc1ccncc1",
          "F/C=C/F",
          "N[C@@H](C)C(=O)O",
          "OC[C@H]1OC(O)[C@H](O)[C@@H](O)[C@@H]1O",
          "c1ccc2[nH]ccc2c1",
          "[Na+].[Cl-]",
          "CS(=O)C",
          "O=C(O)c1ccccc1O",
          "CC(=O)Nc1ccc(O)cc1",
          "C1=CC=C(C=C1)C=O",
          "CCN(CC)CC",
          "OCC(O)CO",
          "CCCCCCCCCCCCCCCC(=O)O",
          "c1ccoc1",
          "c1ccsc1",
          "O=S(=O)(O)O",
          "CP(=O)(OC)OC",
          "C[N+](C)(C)CCO",
          "II",
          "N#Cc1ccccc1"};
}

inline std::unique_ptr<data::WordTokenizer> words_of(const std::vector<std::string>& smiles) {
  data::SmilesVocabulary words;
  for (const std::string& text : smiles) words.add(text);
  return words.train({});
}

/// A data set of these SMILES in words of their own; with graphs and two targets, or without.
inline void write_token_dataset(const std::string& path, const std::vector<std::string>& smiles,
                                bool graphs = false) {
  DatasetWriterOptions options;
  options.path = path;
  if (graphs) options.features = data::ogb_schema();
  if (graphs) options.targets = test_targets();
  DatasetWriter writer(options);
  for (std::size_t i = 0; i < smiles.size(); ++i) {
    MoleculeRecord record;
    if (graphs) {
      record = data::Molecule(smiles[i]).graph();
      record.y = {static_cast<double>(i) / 2, static_cast<double>(i % 2)};
    }
    record.smiles = smiles[i];
    writer.append(record);
  }
  writer.add_tokens(*words_of(smiles));
  writer.finish(simple_splits(std::ssize(smiles)));
}

}  // namespace moiety::testing
