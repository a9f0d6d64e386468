// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace moiety::apps {

/// What `moiety predict` writes: CSV with one line a row of the input, in order: id, smiles, one
/// column per target, and why there is no prediction where there is none.
class PredictionTable {
 public:
  explicit PredictionTable(const std::vector<std::string>& targets);

  /// `values` [T], or none together with a problem.
  void add(std::string_view id, std::string_view smiles, std::span<const double> values,
           std::string_view problem);

  const std::string& text() const { return text_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t problems() const { return problems_; }

 private:
  std::size_t targets_;
  std::string text_;
  std::int64_t rows_ = 0;
  std::int64_t problems_ = 0;
};

}  // namespace moiety::apps
