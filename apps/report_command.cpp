// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apps/commands.h"
#include "apps/report.h"
#include "apps/result_screen.h"
#include "apps/text_file.h"
#include "tensor/file_paths.h"

namespace moiety::apps {
namespace {

struct ReportArguments {
  std::vector<std::string> runs;
  std::string output;
};

void report(const ReportArguments& arguments) {
  std::vector<RunRecord> runs;
  for (const std::string& run : arguments.runs) runs.push_back(load_run(open_run(run)));
  std::filesystem::path output = arguments.output;
  if (output.empty()) {
    output = runs.size() == 1 ? RunFiles{arguments.runs.front()}.report() : "comparison.html";
  }
  check_output_folder(output);
  for (const std::string& run : arguments.runs) {
    const RunFiles files{run};
    check_not_of_run(files, output, files.report());
  }
  const auto folder = std::filesystem::proximate(arguments.runs.front(),
                                                 std::filesystem::absolute(output).parent_path());
  write_atomically(
      output, runs.size() == 1 ? render_report(runs.front(), folder) : render_comparison(runs));
  fmt::print("{}report: {}\n", result_screen(runs), output.string());
}

}  // namespace

void add_report(CLI::App& app) {
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App* command = app.add_subcommand(
      "report", "Show what runs reached; write the page of one, or one page comparing several");
  command->add_option("RUN", arguments->runs, "Folders of runs")->required();
  command->add_option("-o,--output", arguments->output,
                      "The page (default: RUN/report.html; of several runs comparison.html)");
  command->callback([arguments] { report(*arguments); });
}

}  // namespace moiety::apps
