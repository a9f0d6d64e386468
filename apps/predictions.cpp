// SPDX-License-Identifier: Apache-2.0
#include "apps/predictions.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <limits>

#include "data/table.h"
#include "data/text.h"
#include "tensor/error.h"

namespace moiety::apps {
namespace {

constexpr std::size_t kFixedColumns = 2;  // id, smiles

std::string header(const std::vector<std::string>& targets) {
  if (targets.size() == 1) return "id,smiles,target,prediction\n";
  std::string line = "id,smiles";
  for (const std::string& name : targets) {
    line += fmt::format(",{},{}", data::csv_field(name), data::csv_field(name + " prediction"));
  }
  return line + "\n";
}

std::vector<std::string> targets_of(const data::TableReader& table) {
  const std::vector<std::string>& columns = table.columns();
  const bool fits = columns.size() > kFixedColumns && columns.size() % 2 == 0 &&
                    columns[0] == "id" && columns[1] == "smiles";
  std::vector<std::string> targets;
  for (std::size_t i = kFixedColumns; fits && i < columns.size(); i += 2) {
    targets.push_back(columns[i]);
  }
  return targets;
}

double parse_cell(const std::string& cell, const std::string& place) {
  if (cell.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto number = data::parse_number(cell);
  check<UserError>(number.has_value(), place, ": '", cell, "' is not a number");
  return *number;
}

}  // namespace

std::string to_csv(const Predictions& predictions) {
  const std::size_t targets = predictions.targets.size();
  const std::size_t molecules = predictions.id.size();
  MOIETY_CHECK(targets > 0 && predictions.smiles.size() == molecules &&
               predictions.truth.size() == molecules * targets &&
               predictions.prediction.size() == molecules * targets);
  std::string csv = header(predictions.targets);
  const auto out = std::back_inserter(csv);
  for (std::size_t m = 0; m < molecules; ++m) {
    fmt::format_to(out, "{},{}", data::csv_field(predictions.id[m]),
                   data::csv_field(predictions.smiles[m]));
    for (std::size_t i = m * targets; i < (m + 1) * targets; ++i) {
      csv += ',';
      if (!std::isnan(predictions.truth[i])) fmt::format_to(out, "{}", predictions.truth[i]);
      csv += ',';
      if (!std::isnan(predictions.prediction[i])) {
        fmt::format_to(out, "{:.8g}", predictions.prediction[i]);
      }
    }
    csv += '\n';
  }
  return csv;
}

Predictions read_predictions(const std::filesystem::path& file) {
  data::TableReader table(file, ',');
  Predictions predictions;
  predictions.targets = targets_of(table);
  check<UserError>(!predictions.targets.empty(), file.string(),
                   ": the columns are not id, smiles and pairs of target and prediction");
  data::TableRow row;
  while (table.next(row)) {
    const std::string place = concat(file.string(), ":", row.line);
    check<UserError>(row.problem.empty(), place, ": ", row.problem);
    predictions.id.push_back(row.fields[0]);
    predictions.smiles.push_back(row.fields[1]);
    for (std::size_t i = kFixedColumns; i < row.fields.size(); i += 2) {
      predictions.truth.push_back(parse_cell(row.fields[i], place));
      predictions.prediction.push_back(parse_cell(row.fields[i + 1], place));
    }
  }
  return predictions;
}

}  // namespace moiety::apps
