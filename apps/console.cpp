// SPDX-License-Identifier: Apache-2.0
#include "apps/console.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace moiety::apps {
namespace {

using std::chrono::steady_clock;
constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::chrono::seconds kPlainLine{10};
constexpr int kBarWidth = 30;

std::string one_line(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return out;
}

}  // namespace

void print_error(std::string_view message) {
  fmt::print(stderr, "moiety: error: {}\n", one_line(message));
}

ProgressBar::ProgressBar(std::string label)
    : label_(std::move(label)),
      terminal_(isatty(STDERR_FILENO) != 0),
      last_(steady_clock::now() - kRedraw) {
  if (!terminal_) last_ = steady_clock::now();
}

ProgressBar::~ProgressBar() {
  if (open_) std::fputc('\n', stderr);
}

void ProgressBar::update(double fraction, std::string_view note) {
  const auto now = steady_clock::now();
  if (now - last_ < (terminal_ ? steady_clock::duration(kRedraw) : kPlainLine)) return;
  last_ = now;
  draw(fraction, note);
}

void ProgressBar::finish(std::string_view note) {
  draw(1, note);
  if (open_) std::fputc('\n', stderr);
  open_ = false;
}

void ProgressBar::draw(double fraction, std::string_view note) {
  const double shown = std::clamp(fraction, 0.0, 1.0);
  if (!terminal_) {
    fmt::print(stderr, "{} {:3.0f} % {}\n", label_, 100 * shown, note);
    return;
  }
  const int filled = static_cast<int>(shown * kBarWidth);
  fmt::print(stderr, "\r{} [{:=<{}}{: <{}}] {:3.0f} % {}\x1b[K", label_, "", filled, "",
             kBarWidth - filled, 100 * shown, note);
  std::fflush(stderr);
  open_ = true;
}

}  // namespace moiety::apps
