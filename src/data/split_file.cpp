// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "data/split.h"
#include "data/table.h"
#include "data/text.h"
#include "tensor/error.h"
#include "tensor/file_paths.h"

namespace moiety::data {
namespace {

using Rows = std::vector<std::int64_t>;

Rows& part_of(SplitIndices& splits, Split split) {
  return split == Split::train ? splits.train : split == Split::valid ? splits.valid : splits.test;
}

SplitIndices read_json(const std::filesystem::path& path) {
  check_input_file(path);
  std::ifstream file(path);
  check<UserError>(file.is_open(), "cannot open ", path.string(), ": ", std::strerror(errno));
  nlohmann::json lists;
  try {
    lists = nlohmann::json::parse(file);
  } catch (const nlohmann::json::parse_error& error) {
    throw UserError(concat(path.string(), " is not JSON: byte ", error.byte));
  }
  check<UserError>(lists.is_object(), path.string(),
                   " must be an object with the lists train, valid and test");
  SplitIndices splits;
  for (const auto& [name, rows] : lists.items()) {
    const auto split = split_label(name);
    check<UserError>(split.has_value() && rows.is_array(), path.string(), " has '", name,
                     "'; it must hold the lists train, valid and test alone");
    for (const auto& row : rows) {
      check<UserError>(row.is_number_integer(), path.string(), ": '", row.dump(), "' in '", name,
                       "' is not a row number");
      part_of(splits, *split).push_back(row.get<std::int64_t>());
    }
  }
  return splits;
}

SplitIndices read_table(const std::filesystem::path& path) {
  TableReader table(path);
  const std::size_t row_column = table.column("row");
  const std::size_t split_column = table.column("split");
  constexpr double kLargestRow = 0x1p53;
  SplitIndices splits;
  for (TableRow row; table.next(row);) {
    const auto at = [&] { return concat(path.string(), ":", row.line, ": "); };
    check<UserError>(row.problem.empty(), at(), row.problem);
    const auto number = parse_number(row.fields[row_column]);
    check<UserError>(number && *number == std::floor(*number) && std::abs(*number) < kLargestRow,
                     at(), "'", row.fields[row_column], "' is not a row number");
    const auto split = split_label(row.fields[split_column]);
    check<UserError>(split.has_value(), at(), "'", row.fields[split_column],
                     "' is none of train, valid and test");
    part_of(splits, *split).push_back(static_cast<std::int64_t>(*number));
  }
  return splits;
}

void check_disjoint(const SplitIndices& splits, const std::filesystem::path& path) {
  Rows all = splits.train;
  all.insert(all.end(), splits.valid.begin(), splits.valid.end());
  all.insert(all.end(), splits.test.begin(), splits.test.end());
  std::sort(all.begin(), all.end());
  const auto twice = std::adjacent_find(all.begin(), all.end());
  check<UserError>(twice == all.end(), path.string(), " lists row ",
                   twice == all.end() ? 0 : *twice, " twice; a row belongs to one part");
}

}  // namespace

SplitIndices read_split_file(const std::filesystem::path& path) {
  SplitIndices splits = path.extension() == ".json" ? read_json(path) : read_table(path);
  check_disjoint(splits, path);
  return splits;
}

}  // namespace moiety::data
