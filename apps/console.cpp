// SPDX-License-Identifier: Apache-2.0
#include "apps/console.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>

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

}  // namespace

void print_error(std::string_view message) {
  fmt::print(stderr, "moiety: error: {}\n", one_line(message));
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
    fmt::print(stderr, "{} {:3.0f} %{} {}\n", label_, 100 * shown, left, note);
    return;
  }
  const int filled = static_cast<int>(shown * kBarWidth);
  fmt::print(stderr, "\r{} [{:=<{}}{: <{}}] {:3.0f} %{} {}\x1b[K", label_, "", filled, "",
             kBarWidth - filled, 100 * shown, left, note);
  std::fflush(stderr);
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
