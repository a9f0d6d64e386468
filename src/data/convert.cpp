// SPDX-License-Identifier: Apache-2.0
#include "data/convert.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "data/featurize.h"
#include "data/smiles_tokens.h"
#include "data/split.h"
#include "data/text.h"
#include "tensor/checksum.h"
#include "tensor/error.h"

namespace moiety::data {
namespace {

/// A row that is left out; the kind as in Rejection.
class RejectedRow : public Error {
 public:
  RejectedRow(std::string kind, const std::string& reason)
      : Error(reason), kind_(std::move(kind)) {}
  const std::string& kind() const { return kind_; }

 private:
  std::string kind_;
};

/// For a cell that would be a number if its comma were a point.
const char* decimal_comma_hint(std::string cell) {
  const std::size_t comma = cell.find(',');
  if (comma == std::string::npos) return "";
  cell[comma] = '.';
  return parse_number(cell) ? "; write decimal points, not commas" : "";
}

double target_value(const std::string& cell, const TargetSpec& target) {
  if (is_missing(cell)) return std::numeric_limits<double>::quiet_NaN();
  const auto number = parse_number(cell);
  if (!number) {
    throw RejectedRow("target is no number",
                      concat("target '", target.name, "' is '", cell, "', not a finite number",
                             decimal_comma_hint(cell)));
  }
  if (target.task != "regression" && *number != 0 && *number != 1) {
    throw RejectedRow("target is no class",
                      concat("target '", target.name, "' is ", cell, ", neither 0 nor 1"));
  }
  return *number;
}

std::vector<double> target_values(const SourceRow& row, std::span<const TargetSpec> targets) {
  std::vector<double> y;
  for (std::size_t t = 0; t < targets.size(); ++t) {
    y.push_back(target_value(row.targets[t], targets[t]));
  }
  const bool optional = targets.empty() || targets.front().task == "multilabel";
  if (!optional && std::all_of(y.begin(), y.end(), [](double v) { return std::isnan(v); })) {
    throw RejectedRow("no target", "all targets are missing");
  }
  return y;
}

std::optional<Split> label_of(const SourceRow& row) {
  if (is_missing(row.split)) return std::nullopt;
  const auto split = split_label(row.split);
  if (!split) {
    throw RejectedRow("unknown split",
                      concat("the split is '", row.split, "', none of train, valid and test"));
  }
  return split;
}

/// Refuses a SMILES that has no tokens.
void add_tokens(const Molecule& molecule, const ConvertOptions& options, ConvertedRow& out) {
  try {
    if (options.tokenizer) out.unknown = options.tokenizer->encode(molecule.smiles()).unknown;
    if (options.learn_words) smiles_tokens(molecule.smiles());
  } catch (const UserError& error) {
    throw RejectedRow("SMILES: not tokenised", error.what());
  }
  if (!options.learn_words) return;
  try {
    out.random_smiles = molecule.random_smiles(out.fingerprint);
  } catch (const ChemistryError&) {
    // Its own SMILES is enough to learn from.
  }
}

ConvertedRow convert(const SourceRow& row, const ConvertOptions& options) {
  if (!row.problem.empty()) throw RejectedRow("unreadable row", row.problem);
  if (row.id.find('\0') != std::string::npos) {
    throw RejectedRow("unreadable row", "the identifier holds a NUL character");
  }
  ConvertedRow out;
  std::vector<double> y = target_values(row, options.targets);
  if (options.split_column) out.split = label_of(row);
  const Molecule molecule(row.smiles);
  const std::string canonical = molecule.canonical_smiles();
  out.fingerprint = xxh64(std::as_bytes(std::span(canonical)));
  if (options.scaffold) out.scaffold = molecule.scaffold();
  add_tokens(molecule, options, out);
  if (options.graphs) {
    out.molecule = molecule.graph();
  } else {
    out.molecule.emplace().smiles = molecule.smiles();
  }
  out.molecule->y = std::move(y);
  out.molecule->id = row.id;
  return out;
}

ConvertedRow rejected(std::string kind, std::string reason) {
  ConvertedRow out;
  out.rejection = {std::move(kind), std::move(reason)};
  return out;
}

}  // namespace

ConvertedRow convert_row(const SourceRow& row, const ConvertOptions& options) {
  try {
    return convert(row, options);
  } catch (const RejectedRow& rejection) {
    return rejected(rejection.kind(), rejection.what());
  } catch (const ChemistryError& error) {
    return rejected(concat("SMILES: ", error.kind()), error.what());
  }
}

}  // namespace moiety::data
