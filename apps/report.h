// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/run_record.h"

namespace moiety::apps {

/// One self-contained HTML page: headline, curves, parity plot, error histogram, tables, recipe and
/// machine. Whatever a run does not have yet is left out. `folder` is the run's as seen from the
/// page, for the link to its predictions; "" when the page lies in it.
std::string render_report(const RunRecord& run, const std::filesystem::path& folder = "");

/// One page that compares runs: a table, the validation curves over each other and the keys in
/// which their recipes differ.
std::string render_comparison(const std::vector<RunRecord>& runs);

/// Renders report.html of a run from its other files.
void write_report(const RunFiles& files);

}  // namespace moiety::apps
