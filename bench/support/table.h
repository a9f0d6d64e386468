// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <iosfwd>

#include "support/suite.h"

namespace moiety::bench {

/// Writes a row of a Markdown table for each benchmark as soon as it has run, below a head with the
/// machine, its limits, the date and the command. Rows of benchmarks that failed say why.
class TableReporter : public benchmark::BenchmarkReporter {
 public:
  TableReporter(const Suite& suite, std::ostream& out) : suite_(suite), out_(out) {}

  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  /// Benchmarks that have failed so far.
  int failures() const { return failures_; }

 private:
  const Suite& suite_;
  std::ostream& out_;
  int failures_ = 0;
};

/// Writes what each benchmark must do at least: name, bytes, floating-point operations.
void write_work(const Suite& suite, std::ostream& out);

}  // namespace moiety::bench
