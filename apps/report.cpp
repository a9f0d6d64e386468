// SPDX-License-Identifier: Apache-2.0
#include "apps/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/html.h"
#include "apps/report_parts.h"
#include "apps/text_file.h"

namespace moiety::apps {

namespace {

/// "gine, 5 layers of 128: gap_ev of data/gap_gfn2.h5".
std::string subject(const RunRecord& run) {
  std::vector<std::string> targets;
  for (const auto& scores : scores_by_target(object_at(run.summary, "/metrics/test"))) {
    if (scores.contains("target")) targets.push_back(text_at(scores, "/target"));
  }
  const std::string dataset = text_at(run.summary, "/dataset");
  return fmt::format("{}{}{}{}{}", text_at(run.summary, "/model"), targets.empty() ? "" : ": ",
                     fmt::join(targets, ", "), dataset.empty() ? "" : " of ", dataset);
}

}  // namespace

std::string render_report(const RunRecord& run, const std::filesystem::path& folder) {
  std::string body = fmt::format("<h1>{}</h1>\n<p class=\"sub\">{}</p>\n", escape_html(run.name),
                                 escape_html(subject(run)));
  body += headline(run);
  body += training_curves(run);
  body += test_plots(run, folder);
  body += scores_table(run);
  body += recipe_and_machine(run);
  return html_page(run.name, body);
}

void write_report(const RunFiles& files) {
  write_atomically(files.report(), render_report(load_run(files)));
}

}  // namespace moiety::apps
