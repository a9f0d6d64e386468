// SPDX-License-Identifier: Apache-2.0
#include "support/table.h"

#include <chrono>
#include <ctime>
#include <iomanip>
#include <ostream>
#include <sstream>

namespace moiety::bench {
namespace {

std::string today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::ostringstream out;
  out << std::put_time(&utc, "%Y-%m-%d");
  return out.str();
}

/// Three significant digits, or "" for a counter that is not there.
std::string number(const benchmark::UserCounters& counters, const char* name) {
  const auto found = counters.find(name);
  if (found == counters.end()) return "";
  std::ostringstream out;
  out << std::setprecision(3) << found->second.value;
  return out.str();
}

}  // namespace

bool TableReporter::ReportContext(const Context&) {
  out_ << today() << ", `" << suite_.options().command << "`\n\n";
  for (const auto& place : suite_.places()) {
    out_ << "- `" << place->name() << "`: " << place->machine()
         << ". Limits in this run: " << place->limits() << ".\n";
  }
  out_ << "\n| kernel/shape/dtype | place | microseconds | GB/s | GFLOP/s | of the limit |\n"
          "|---|---|---|---|---|---|\n"
       << std::flush;
  return true;
}

void TableReporter::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    // "family/kernel/shape/dtype/place" and what Google Benchmark adds behind it.
    const std::string& full = run.run_name.function_name;
    const auto cut = full.rfind('/');
    out_ << "| " << full.substr(0, cut) << " | " << full.substr(cut + 1) << " | ";
    const bool failed = !run.counters.contains("of_limit");
    failures_ += failed;
    if (failed) {
      out_ << "failed: " << run.report_label << " | | | |\n" << std::flush;
      continue;
    }
    const bool by_processor = run.run_name.time_type.empty();
    const double seconds = by_processor ? run.cpu_accumulated_time : run.real_accumulated_time;
    std::ostringstream micros;
    micros << std::setprecision(4) << 1e6 * seconds / static_cast<double>(run.iterations);
    out_ << micros.str() << " | " << number(run.counters, "GB/s") << " | "
         << number(run.counters, "GFLOP/s") << " | " << number(run.counters, "of_limit") << " |\n"
         << std::flush;
  }
}

void write_work(const Suite& suite, std::ostream& out) {
  out << "| kernel/shape/dtype | bytes | FLOP |\n|---|---|---|\n"
      << std::fixed << std::setprecision(0);
  for (const Case& c : suite.cases()) {
    out << "| " << c.name << " | " << c.work.bytes << " | " << c.work.flops << " |\n";
  }
}

}  // namespace moiety::bench
