// SPDX-License-Identifier: Apache-2.0
#include "apps/svg_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "apps/html.h"

namespace moiety::apps {
namespace {

constexpr int kTicks = 5;

/// Where a value lies in its axis, 0 at the low end and 1 at the high end.
double place(const Axis& axis, double value) {
  if (!axis.logarithmic) return (value - axis.low) / (axis.high - axis.low);
  const double floor = std::max(value, axis.low);
  return std::log(floor / axis.low) / std::log(axis.high / axis.low);
}

/// The nearest of 1, 2 and 5 times a power of ten.
double round_step(double raw) {
  const double power = std::pow(10, std::floor(std::log10(raw)));
  const double factor = raw / power;
  return power * (factor < 1.5 ? 1 : factor < 3.5 ? 2 : factor < 7.5 ? 5 : 10);
}

std::vector<double> logarithmic_ticks(const Axis& axis) {
  const double decades = std::log10(axis.high / axis.low);
  std::vector<double> ticks;
  for (double power = std::floor(std::log10(axis.low)); power <= std::log10(axis.high); ++power) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double tick = factor * std::pow(10, power);
      const bool shown = factor == 1.0 || decades < 2.5;
      if (shown && tick >= axis.low && tick <= axis.high) ticks.push_back(tick);
    }
  }
  return ticks;
}

/// 1e-5 where fmt says 1e-05, and no -0.
std::string tick_label(double value) {
  std::string text = fmt::format("{:.6g}", value == 0 ? 0.0 : value);
  const std::size_t e = text.find('e');
  if (e != std::string::npos && text[e + 2] == '0') text.erase(e + 2, 1);
  return text;
}

}  // namespace

std::vector<double> tick_places(const Axis& axis, int count) {
  if (axis.logarithmic) return logarithmic_ticks(axis);
  const double step = round_step((axis.high - axis.low) / count);
  std::vector<double> ticks;
  const double first = std::ceil(axis.low / step - 1e-9);
  for (double k = first; k * step <= axis.high + 1e-9 * step; ++k) ticks.push_back(k * step);
  return ticks;
}

Axis fit_axis(const std::vector<double>& values, bool may_be_logarithmic, std::string label) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (low > high) return {.label = std::move(label)};
  if (may_be_logarithmic && low > 0 && high > 10 * low) {
    return {low / 1.1, high * 1.1, true, std::move(label)};
  }
  const double room = high > low ? 0.04 * (high - low) : std::max(1e-9, 0.1 * std::abs(high));
  return {low - room, high + room, false, std::move(label)};
}

SvgFrame::SvgFrame(Axis x, Axis y, double width, double height)
    : x_axis_(std::move(x)), y_axis_(std::move(y)), width_(width), height_(height) {}

double SvgFrame::x(double value) const {
  return left() + place(x_axis_, value) * (right() - left());
}

double SvgFrame::y(double value) const {
  return bottom() - place(y_axis_, value) * (bottom() - top());
}

std::string SvgFrame::grid() const {
  std::string lines;
  std::string labels;
  for (const double tick : tick_places(x_axis_, kTicks)) {
    lines += fmt::format("M{:.1f} {:.1f}V{:.1f}", x(tick), top(), bottom());
    labels += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>",
                          x(tick), bottom() + 16, tick_label(tick));
  }
  for (const double tick : tick_places(y_axis_, kTicks)) {
    lines += fmt::format("M{:.1f} {:.1f}H{:.1f}", left(), y(tick), right());
    labels += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>",
                          left() - 6, y(tick) + 4, tick_label(tick));
  }
  const double middle = (top() + bottom()) / 2;
  return fmt::format(
      "<path class=\"gridline\" d=\"{}\"/>{}"
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>"
      "<text transform=\"translate(13 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
      lines, labels, (left() + right()) / 2, height_ - 8, escape_html(x_axis_.label), middle,
      escape_html(y_axis_.label));
}

std::string SvgFrame::wrap(const std::string& content, const std::string& description) const {
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">{}{}</svg>\n",
                     width_, height_, escape_html(description), grid(), content);
}

}  // namespace moiety::apps
