// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>

#include "tensor/thread_pool.h"

namespace moiety::apps {

/// Molecules by the checksum of their canonical SMILES.
using MoleculeSet = std::unordered_set<std::uint64_t>;

/// How good generated texts are as SMILES, as in MOSES (Polykovskiy et al. 2020).
struct MoleculeScores {
  std::int64_t texts = 0;
  std::int64_t valid = 0;               ///< texts that are a molecule
  std::int64_t unique = 0;              ///< different molecules among these
  std::optional<std::int64_t> novel{};  ///< of those, the ones that were not trained on

  double validity() const { return share(valid, texts); }
  double uniqueness() const { return share(unique, valid); }
  std::optional<double> novelty() const {
    return novel ? std::optional(share(*novel, unique)) : std::nullopt;
  }

 private:
  static double share(std::int64_t part, std::int64_t all) {
    return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
  }
};

/// Scores texts with RDKit; `trained` holds what they were learned from, where that is known.
MoleculeScores score_molecules(std::span<const std::string> texts, const MoleculeSet* trained,
                               ThreadPool& pool);

/// The molecules of the training split of a data set (.h5), or of all rows of a table or of SMILES
/// lines. `on_progress` hears how far it is, in [0, 1]. Throws UserError or IoError naming the file
/// that cannot be read; a row that is no molecule is passed over.
MoleculeSet read_molecules(const std::filesystem::path& file, ThreadPool& pool,
                           const std::function<void(double)>& on_progress);

}  // namespace moiety::apps
