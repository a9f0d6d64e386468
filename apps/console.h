// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace moiety::apps {

/// Keeps the numbers of standard streams that are closed: the next file that is opened would get
/// one, and what is meant for the screen would go there. To be called first.
void hold_standard_streams();

/// Why what was printed to stdout did not arrive, "" when it did. To be called last.
std::string problem_of_stdout();

/// Prints "moiety: error: ..." to stderr in one line, whatever the message holds.
void print_error(std::string_view message);
/// The same for what is no error: "moiety: ...".
void print_notice(std::string_view message);

/// How far a long job is, on stderr: a bar that redraws itself on a terminal, elsewhere a plain
/// line now and then. Single-threaded.
class ProgressBar {
 public:
  explicit ProgressBar(std::string label);
  /// Ends the line of a bar that is still on the screen.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Shows done / total (in [0, 1]), the time that is left at the pace so far and a note behind
  /// them, at a bounded rate: call it freely.
  void update(double fraction, std::string_view note);
  /// Shows the last state and ends the line.
  void finish(double fraction, std::string_view note);

 private:
  using Clock = std::chrono::steady_clock;

  void draw(double fraction, std::string_view note);
  std::string time_left(double fraction) const;

  std::string label_;
  bool terminal_;
  bool open_ = false;
  Clock::time_point last_;
  Clock::time_point start_;
  double start_fraction_ = -1;  ///< of the first update; a job that is resumed begins further on
};

}  // namespace moiety::apps
