// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "data/dataset_info.h"

namespace moiety::data {

/// Shares of the molecules. They add up to 1; train is not 0.
struct SplitFractions {
  double train = 0.8;
  double valid = 0.1;
  double test = 0.1;
};

// Every function below gives ascending indices and throws UserError rather than return a part that
// was asked for and is empty.

/// Molecules 0 .. M-1 dealt out at random: the same for the same seed on any machine.
SplitIndices random_split(std::int64_t molecules, std::uint64_t seed,
                          const SplitFractions& fractions = {});

/// Whole scaffolds at a time, the most frequent first into train, what no longer fits into valid,
/// then test (as DeepChem's ScaffoldSplitter). `scaffolds` [M].
SplitIndices scaffold_split(std::span<const std::string> scaffolds,
                            const SplitFractions& fractions = {});

/// Each molecule where its label says; those without one in no part. `labels` [M].
SplitIndices label_split(std::span<const std::optional<Split>> labels);

/// Rows of the source as a file lists them: JSON with the lists "train", "valid" and "test", or a
/// table with the columns "row" and "split". Rows count from 0 without the header. Throws UserError
/// for a row that is listed twice.
SplitIndices read_split_file(const std::filesystem::path& path);

/// Rows of the source into molecules of the data set; `molecule_of_row` [rows] is -1 for a row that
/// was rejected, which is left out. Throws UserError naming `file` for a row that does not exist.
SplitIndices rows_to_molecules(const SplitIndices& rows,
                               std::span<const std::int64_t> molecule_of_row,
                               const std::filesystem::path& file);

/// What a cell of a split column means: train, valid (also val, validation, dev) or test, in any
/// case; nothing for any other word.
std::optional<Split> split_label(std::string_view cell);

}  // namespace moiety::data
