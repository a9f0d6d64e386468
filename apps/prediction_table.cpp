// SPDX-License-Identifier: Apache-2.0
#include "apps/prediction_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "data/text.h"
#include "tensor/error.h"

namespace moiety::apps {

PredictionTable::PredictionTable(const std::vector<std::string>& targets)
    : targets_(targets.size()), text_("id,smiles") {
  for (const std::string& name : targets) text_ += "," + data::csv_field(name);
  text_ += ",problem\n";
}

void PredictionTable::add(std::string_view id, std::string_view smiles,
                          std::span<const double> values, std::string_view problem) {
  check(values.size() == targets_ || values.empty(), "prediction table: ", values.size(),
        " values for ", targets_, " targets");
  if (!std::ranges::all_of(values, [](double value) { return std::isfinite(value); })) {
    return add(id, smiles, {}, "the model gives no finite number: its weights may be damaged");
  }
  auto out = std::back_inserter(text_);
  fmt::format_to(out, "{},{}", data::csv_field(id), data::csv_field(smiles));
  for (std::size_t t = 0; t < targets_; ++t) {
    if (values.empty()) {
      text_ += ",";
    } else {
      fmt::format_to(out, ",{:.9g}", values[t]);
    }
  }
  fmt::format_to(out, ",{}\n", data::csv_field(problem));
  ++rows_;
  problems_ += problem.empty() ? 0 : 1;
}

}  // namespace moiety::apps
