// SPDX-License-Identifier: Apache-2.0
#include "apps/report.h"

#include <fmt/format.h>

#include "apps/html.h"
#include "apps/report_parts.h"
#include "apps/text_file.h"

namespace moiety::apps {

std::string render_report(const RunRecord& run) {
  const std::string model = text_at(run.summary, "/model");
  std::string body = fmt::format("<h1>{}</h1>\n<p class=\"sub\">{}</p>\n", escape_html(run.name),
                                 escape_html(model));
  body += headline(run);
  body += training_curves(run);
  body += test_plots(run);
  body += scores_table(run);
  body += recipe_and_machine(run);
  return html_page(run.name, body);
}

void write_report(const RunFiles& files) {
  write_atomically(files.report(), render_report(load_run(files)));
}

}  // namespace moiety::apps
