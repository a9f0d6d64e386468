// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace moiety::apps {

/// Predictions beside the truth for M molecules and T targets, in the targets' own units.
struct Predictions {
  std::vector<std::string> targets;  ///< [T] names
  std::vector<std::string> id;       ///< [M]
  std::vector<std::string> smiles;   ///< [M]
  std::vector<double> truth;         ///< [M * T], NaN = not known
  std::vector<double> prediction;    ///< [M * T]

  std::int64_t molecules() const { return static_cast<std::int64_t>(id.size()); }
};

/// CSV (RFC 4180): id, smiles and, for one target, target and prediction; for several, the pair
/// `NAME` and `NAME prediction` of each. NaN is an empty field; predictions have 8 digits, all that
/// f32 knows. Throws Error when the sizes differ.
std::string to_csv(const Predictions& predictions);

/// Reads what to_csv wrote. Throws UserError naming the file and the row or
/// column that does not fit.
Predictions read_predictions(const std::filesystem::path& file);

}  // namespace moiety::apps
