// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace moiety::bench {

/// What is asked for on moiety_bench's command line beside Google Benchmark's own flags.
struct Options {
  std::string device = "cpu";  ///< --device cpu or cuda
  bool table = false;          ///< --table: a Markdown table instead of Google Benchmark's report
  bool work = false;           ///< --work: what each benchmark must do at least; nothing is run
  bool tiny = false;           ///< --tiny: shapes so small that a run shows that it works, no more
  bool cudnn = false;          ///< --attention cudnn: attention forward by cuDNN
  std::string command;         ///< as it was given, for the table's head

  /// `extent`, or with --tiny at most `most` of it.
  std::int64_t sized(std::int64_t extent, std::int64_t most) const {
    return tiny && most < extent ? most : extent;
  }
};

/// Takes its own flags out of argc and argv and leaves the rest. Throws UserError for a device that
/// it does not know.
Options take_options(int& argc, char** argv);

}  // namespace moiety::bench
