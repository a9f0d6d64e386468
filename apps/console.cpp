// SPDX-License-Identifier: Apache-2.0
#include "apps/console.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

#include "tensor/error.h"

namespace moiety::apps {
namespace {

constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::chrono::seconds kPlainLine{10};
constexpr int kBarWidth = 30;

std::string one_line(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return out;
}

/// A screen that cannot be written, closed or full, ends no work: fmt::print would throw.
void write_to_stderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

void hold_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) < 0) open("/dev/null", O_RDONLY);
  }
}

std::string problem_of_stdout() {
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  return written ? "" : concat("cannot write to the standard output: ", std::strerror(errno));
}

void print_error(std::string_view message) {
  write_to_stderr(concat("moiety: error: ", one_line(message), "\n"));
}

void print_notice(std::string_view message) {
  write_to_stderr(concat("moiety: ", one_line(message), "\n"));
}

ProgressBar::ProgressBar(std::string label)
    : label_(std::move(label)),
      terminal_(isatty(STDERR_FILENO) != 0),
      last_(Clock::now() - kRedraw) {
  if (!terminal_) last_ = Clock::now();
}

ProgressBar::~ProgressBar() {
  if (open_) std::fputc('\n', stderr);
}

void ProgressBar::update(double fraction, std::string_view note) {
  const auto now = Clock::now();
  if (start_fraction_ < 0) {
    start_fraction_ = fraction;
    start_ = now;
  }
  if (now - last_ < (terminal_ ? Clock::duration(kRedraw) : kPlainLine)) return;
  last_ = now;
  draw(fraction, note);
}

void ProgressBar::finish(double fraction, std::string_view note) {
  draw(fraction, note);
  if (open_) std::fputc('\n', stderr);
  open_ = false;
}

void ProgressBar::draw(double fraction, std::string_view note) {
  const double shown = std::clamp(fraction, 0.0, 1.0);
  const std::string left = time_left(shown);
  if (!terminal_) {
    write_to_stderr(fmt::format("{} {:3.0f} %{} {}\n", label_, 100 * shown, left, note));
    return;
  }
  const int filled = static_cast<int>(shown * kBarWidth);
  // Without line wrap: what is wider than the terminal would leave a line behind at each redraw.
  write_to_stderr(fmt::format("\r\x1b[?7l{} [{:=<{}}{: <{}}] {:3.0f} %{} {}\x1b[K\x1b[?7h", label_,
                              "", filled, "", kBarWidth - filled, 100 * shown, left, note));
  open_ = true;
}

std::string ProgressBar::time_left(double fraction) const {
  const double done = fraction - start_fraction_;
  if (start_fraction_ < 0 || done <= 0 || fraction >= 1) return "";
  const double spent = std::chrono::duration<double>(Clock::now() - start_).count();
  const auto seconds = static_cast<std::int64_t>(spent / done * (1 - fraction) + 0.5);
  return fmt::format(" {}:{:02}:{:02} left,", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

}  // namespace moiety::apps
