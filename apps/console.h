// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace moiety::apps {

/// Prints "moiety: error: ..." to stderr in one line, whatever the message holds.
void print_error(std::string_view message);

/// How far a long job is, on stderr: a bar that redraws itself on a terminal, elsewhere a plain
/// line now and then. Single-threaded.
class ProgressBar {
 public:
  explicit ProgressBar(std::string label);
  /// Ends the line of a bar that is still on the screen.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Shows done / total (in [0, 1]) and a note behind it, at a bounded rate: call it freely.
  void update(double fraction, std::string_view note);
  /// Shows the last state and ends the line.
  void finish(std::string_view note);

 private:
  void draw(double fraction, std::string_view note);

  std::string label_;
  bool terminal_;
  bool open_ = false;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace moiety::apps
