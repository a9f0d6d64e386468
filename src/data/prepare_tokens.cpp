// SPDX-License-Identifier: Apache-2.0
#include "data/prepare_tokens.h"

#include <algorithm>
#include <utility>

#include "data/text.h"
#include "tensor/error.h"

namespace moiety::data {

TokenPreparation::TokenPreparation(const TokenPlan& plan) : wanted_(plan.wanted) {
  if (!wanted_) return;
  report_.learned = plan.tokenizer.empty();
  if (report_.learned) return;
  tokenizer_ = load_tokenizer(plan.tokenizer);
  for (const TokenRole role : plan.roles) {
    check<UserError>(tokenizer_->vocabulary().id(role).has_value(), plan.tokenizer.string(),
                     ": its vocabulary has no ", name_of(role),
                     " token, which this task needs; name one in tokenizer_config.json, or learn "
                     "another with `moiety tokenizer train`");
  }
}

void TokenPreparation::take(const std::filesystem::path& source, const SourceRow& row,
                            const ConvertedRow& row_as) {
  if (learns()) {
    words_.add(row_as.molecule->smiles);
    try {
      words_.add(row_as.random_smiles);
    } catch (const UserError&) {
      // A ring of three digits, say: training keeps such a molecule as it is written.
    }
  }
  if (row_as.unknown.empty() || report_.unknown_molecules++ > 0) return;
  std::vector<std::string> unknown = row_as.unknown;
  std::ranges::sort(unknown);
  const auto again = std::ranges::unique(unknown);
  unknown.erase(again.begin(), again.end());
  report_.first_unknown =
      concat(source.filename().string(), ":", row.line, ": ", quoted_list(unknown));
}

TokenReport TokenPreparation::finish(DatasetWriter& writer) {
  if (!wanted_) return report_;
  if (learns()) {
    report_.words = words_.words();
    tokenizer_ = words_.train({});
  }
  const auto totals = writer.add_tokens(*tokenizer_);
  report_.vocabulary = tokenizer_->vocabulary().size();
  report_.tokens = totals.tokens;
  report_.longest = totals.longest;
  return std::move(report_);
}

}  // namespace moiety::data
