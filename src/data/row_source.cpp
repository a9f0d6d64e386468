// SPDX-License-Identifier: Apache-2.0
#include "data/row_source.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "data/table.h"
#include "data/text.h"
#include "data/text_input.h"
#include "tensor/error.h"

namespace moiety::data {
namespace {

class TableSource : public RowSource {
 public:
  TableSource(const std::filesystem::path& path, const SourceColumns& columns)
      : table_(path, columns.delimiter) {
    smiles_ = table_.column(columns.smiles.empty() ? guess_smiles_column(table_.columns(), path)
                                                   : columns.smiles);
    if (!columns.id.empty()) id_ = table_.column(columns.id);
    if (!columns.split.empty()) split_ = table_.column(columns.split);
    for (const std::string& target : columns.targets) targets_.push_back(table_.column(target));
  }

  bool next(SourceRow& row) override {
    if (!table_.next(cells_)) return false;
    row.line = cells_.line;
    row.problem = cells_.problem;
    row.targets.resize(targets_.size());
    const auto cell = [&](std::optional<std::size_t> column) {
      return column && *column < cells_.fields.size() ? std::string(trim(cells_.fields[*column]))
                                                      : std::string();
    };
    row.smiles = cell(smiles_);
    row.id = cell(id_);
    row.split = cell(split_);
    for (std::size_t t = 0; t < targets_.size(); ++t) row.targets[t] = cell(targets_[t]);
    return true;
  }

  std::int64_t bytes_read() const override { return table_.bytes_read(); }

 private:
  TableReader table_;
  TableRow cells_;
  std::size_t smiles_ = 0;
  std::optional<std::size_t> id_;
  std::optional<std::size_t> split_;
  std::vector<std::size_t> targets_;
};

/// A SMILES, a blank, an optional title on each line; between them perhaps an extension |...|.
class SmilesLines : public RowSource {
 public:
  explicit SmilesLines(const std::filesystem::path& path) : input_(path) {}

  bool next(SourceRow& row) override {
    for (; input_.peek(0) != -1; input_.skip_line()) {
      const std::string_view text = trim(input_.view(input_.line_length()));
      if (text.empty()) continue;
      row.line = input_.line();
      row.problem = text.size() > TextInput::kLongestRecord ? "the line is too long" : "";
      const auto end = std::min(text.find_first_of(" \t"), text.size());
      row.smiles = text.substr(0, end);
      row.id = title(trim(text.substr(end)));
      row.targets.clear();
      row.split.clear();
      input_.skip_line();
      return true;
    }
    return false;
  }

  std::int64_t bytes_read() const override { return input_.offset(); }

 private:
  static std::string title(std::string_view rest) {
    if (rest.starts_with('|')) {
      const auto close = rest.find('|', 1);
      rest.remove_prefix(close == std::string_view::npos ? rest.size() : close + 1);
    }
    return std::string(trim(rest));
  }

  TextInput input_;
};

}  // namespace

std::string guess_smiles_column(const std::vector<std::string>& columns,
                                const std::filesystem::path& table) {
  constexpr std::array<std::string_view, 8> kNames = {
      "smiles", "canonical_smiles", "isomeric_smiles", "smi",
      "mol",    "molecule",         "structure",       "compound"};
  for (const std::string_view name : kNames) {
    for (const std::string& column : columns) {
      if (to_lower(column) == name) return column;
    }
  }
  throw UserError(concat(table.string(), ": none of the columns ", quoted_list(columns),
                         " is called smiles; name the one that holds the SMILES"));
}

std::unique_ptr<RowSource> open_source(const std::filesystem::path& path,
                                       const SourceColumns& columns) {
  const std::string ending = to_lower(path.extension().string());
  check<UserError>(ending != ".sdf" && ending != ".mol" && ending != ".xyz" && ending != ".h5" &&
                       ending != ".parquet" && ending != ".xlsx",
                   path.string(), ": molecules are read from tables of text (.csv, .tsv, ...) and ",
                   "SMILES lines (.smi), not from ", ending);
  if (ending != ".smi" && ending != ".smiles" && ending != ".ism") {
    return std::make_unique<TableSource>(path, columns);
  }
  check<UserError>(columns.targets.empty() && columns.split.empty(), path.string(),
                   " holds SMILES and titles alone; targets and split columns need a table (.csv)");
  return std::make_unique<SmilesLines>(path);
}

}  // namespace moiety::data
