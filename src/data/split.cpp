// SPDX-License-Identifier: Apache-2.0
#include "data/split.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "data/text.h"
#include "tensor/error.h"
#include "tensor/rng.h"

namespace moiety::data {
namespace {

constexpr std::uint64_t kSplitPurpose = 0x53504C49;  // one stream of random numbers of its own

void check_fractions(const SplitFractions& f) {
  check<UserError>(
      f.train > 0 && f.valid >= 0 && f.test >= 0 && std::abs(f.train + f.valid + f.test - 1) < 1e-6,
      "split fractions ", f.train, ", ", f.valid, ", ", f.test,
      " are not shares of 1 with something to train on");
}

/// Sorts each part; refuses an empty one whose fraction is not 0.
SplitIndices finished(SplitIndices splits, const SplitFractions& fractions,
                      const std::string& remedy) {
  const std::array<std::pair<std::vector<std::int64_t>*, double>, 3> parts = {
      {{&splits.train, fractions.train},
       {&splits.valid, fractions.valid},
       {&splits.test, fractions.test}}};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto& [rows, fraction] = parts[i];
    check<UserError>(!rows->empty() || fraction == 0, "no molecule is left for '",
                     name_of(static_cast<Split>(i)), "': ", remedy);
    std::sort(rows->begin(), rows->end());
  }
  return splits;
}

}  // namespace

SplitIndices random_split(std::int64_t molecules, std::uint64_t seed,
                          const SplitFractions& fractions) {
  check_fractions(fractions);
  std::vector<std::int64_t> order(static_cast<std::size_t>(molecules));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const RngKey key = derive_key(seed, kSplitPurpose, 0);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[random_below(key, i, i)]);
  }
  const auto share = [&](double fraction) {
    const auto rounded = std::llround(fraction * static_cast<double>(molecules));
    return fraction == 0
               ? 0
               : std::clamp<std::int64_t>(rounded, 1, std::max<std::int64_t>(1, molecules));
  };
  const std::int64_t test = std::min(share(fractions.test), molecules);
  const std::int64_t valid = std::min(share(fractions.valid), molecules - test);
  SplitIndices splits;
  const auto valid_end = order.begin() + valid;
  splits.valid.assign(order.begin(), valid_end);
  splits.test.assign(valid_end, valid_end + test);
  splits.train.assign(valid_end + test, order.end());
  return finished(std::move(splits), fractions,
                  concat("there are only ", molecules, " molecules to split"));
}

SplitIndices scaffold_split(std::span<const std::string> scaffolds,
                            const SplitFractions& fractions) {
  check_fractions(fractions);
  std::map<std::string, std::vector<std::int64_t>> by_scaffold;
  for (std::size_t i = 0; i < scaffolds.size(); ++i) {
    by_scaffold[scaffolds[i]].push_back(static_cast<std::int64_t>(i));
  }
  std::vector<std::vector<std::int64_t>> groups;
  for (auto& [scaffold, rows] : by_scaffold) groups.push_back(std::move(rows));
  std::sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return std::pair(a.size(), a.front()) > std::pair(b.size(), b.front());
  });
  const auto molecules = static_cast<double>(scaffolds.size());
  const double train_end = fractions.train * molecules;
  const double valid_end = (fractions.train + fractions.valid) * molecules;
  SplitIndices splits;
  for (const auto& group : groups) {
    const auto trained = static_cast<double>(splits.train.size() + group.size());
    const bool fits_train = trained <= train_end;
    const bool fits_valid = trained + static_cast<double>(splits.valid.size()) <= valid_end;
    auto& part = fits_train ? splits.train : fits_valid ? splits.valid : splits.test;
    part.insert(part.end(), group.begin(), group.end());
  }
  return finished(std::move(splits), fractions,
                  concat("the molecules have only ", groups.size(),
                         " scaffolds, too few or too unequal to divide; split at random"));
}

SplitIndices label_split(std::span<const std::optional<Split>> labels) {
  SplitIndices splits;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (!labels[i]) continue;
    auto& part = *labels[i] == Split::train   ? splits.train
                 : *labels[i] == Split::valid ? splits.valid
                                              : splits.test;
    part.push_back(static_cast<std::int64_t>(i));
  }
  return finished(std::move(splits), {},
                  "the split column must name each of train, valid and test");
}

SplitIndices rows_to_molecules(const SplitIndices& rows,
                               std::span<const std::int64_t> molecule_of_row,
                               const std::filesystem::path& file) {
  const auto count = static_cast<std::int64_t>(molecule_of_row.size());
  const auto translate = [&](const std::vector<std::int64_t>& from) {
    std::vector<std::int64_t> to;
    for (const std::int64_t row : from) {
      check<UserError>(row >= 0 && row < count, file.string(), " lists row ", row,
                       ", but the source has rows 0 to ", count - 1, "; rows count from 0");
      const std::int64_t molecule = molecule_of_row[static_cast<std::size_t>(row)];
      if (molecule >= 0) to.push_back(molecule);
    }
    return to;
  };
  return finished({translate(rows.train), translate(rows.valid), translate(rows.test)}, {},
                  concat(file.string(), " must list good rows for each of train, valid and test"));
}

std::optional<Split> split_label(std::string_view cell) {
  const std::string word = to_lower(trim(cell));
  if (word == "train") return Split::train;
  if (word == "valid" || word == "val" || word == "validation" || word == "dev")
    return Split::valid;
  if (word == "test") return Split::test;
  return std::nullopt;
}

}  // namespace moiety::data
